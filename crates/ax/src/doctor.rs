//! `ax doctor`: whether all is well, and what to do where it is not.

use quorum::{
    Config, Quorum,
    doctor::{Finding, Health, examine},
    setup::Machine,
};

use crate::{
    args::Doctor,
    exit::Exit,
    render::{print, print_json},
};

/// Looks at everything; fails where something is to be put right.
pub(crate) fn doctor(args: &Doctor) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut findings = runtime.block_on(examine(&Machine::this()));
    if args.live {
        let quorum = Quorum::open(Config::load()?)?;
        findings.extend(runtime.block_on(quorum.health()));
    }
    if args.listed.json {
        print_json(&findings)?;
    } else {
        print(&findings.iter().map(row).collect::<Vec<_>>().join("\n"))?;
    }
    let well = findings.iter().all(|it| it.state != Health::Wrong);
    Ok(if well { Exit::Done } else { Exit::Setup })
}

fn row(finding: &Finding) -> String {
    let state = match finding.state {
        Health::Well => "ok",
        Health::Note => "-",
        Health::Wrong => "wrong",
    };
    format!("{state:<6} {:<14} {}", finding.what, finding.found)
}
