//! Whether a provider would answer, asked through the voice that would.

use std::time::Duration;

use crate::{Quorum, Request, request::draft};

/// How long one provider may take to say whether it is there.
const LONGEST_CHECK: Duration = Duration::from_secs(10);

impl Quorum {
    /// Whether this provider could answer now; what it says where it could not.
    pub(crate) async fn would_answer(&self, provider: &str) -> Result<(), String> {
        let named = Some(vec![provider.to_owned(); 2]);
        let (spec, _) = draft(&Request { providers: named, ..Request::on("health") }, &self.setting);
        let who = spec.participants.first().ok_or("there is no such provider")?;
        let voice = self.engine.shared().voices.voice(&spec, who).ok_or("it has no voice here")?;
        let check = tokio::time::timeout(LONGEST_CHECK, voice.provider.check(who));
        check.await.map_err(|_| "no answer within 10 s".to_owned())?.map_err(|error| error.to_string())
    }
}
