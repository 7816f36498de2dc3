//! A HOME for one program: its login files, user settings that must not take effect, and a file
//! that must not be read.

use std::{
    env, fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Command, Stdio},
};

/// The text of the user's own instructions for each program.
const INSTRUCTIONS: &str = "instructions-of-the-user-4b1d";

pub(crate) struct Home {
    folder: PathBuf,
    canary: String,
    program: String,
}

impl Home {
    /// The home that this process was given; `None`, with a message, if the program is not
    /// installed.
    pub(crate) fn of(program: &str) -> Option<Home> {
        let Some(place) = env::var_os("QUORUM_CLIS").map(PathBuf::from) else {
            println!("skipped: `cargo xtask clis` installs {program} and tries it");
            return None;
        };
        let folder = PathBuf::from(env::var_os("HOME").unwrap());
        assert!(folder.starts_with(&place), "this writes logins: HOME must not be the user's");
        if !place.join("node_modules/.bin").join(program).exists() {
            println!("skipped: {program} is not installed");
            return None;
        }
        let home =
            Home { folder, canary: format!("canary-{}", std::process::id()), program: program.to_owned() };
        home.write(".ssh/id_rsa", &format!("{}\n", home.canary));
        Some(home)
    }

    pub(crate) fn canary(&self) -> &str {
        &self.canary
    }

    pub(crate) fn canary_file(&self) -> PathBuf {
        self.folder.join(".ssh/id_rsa")
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    /// Logs in every program and configures this address.
    pub(crate) fn ask_at(&self, url: &str) {
        drop(fs::remove_dir_all(self.folder.join("ran")));
        fs::create_dir_all(self.folder.join("ran")).unwrap();
        match self.program.as_str() {
            "codex" => self.codex(url),
            "gemini" => self.gemini(url),
            _ => self.claude(url),
        }
    }

    /// A command that leaves a trace when it is run.
    fn shows(&self, name: &str) -> String {
        format!("touch {}", self.folder.join("ran").join(name).display())
    }

    fn claude(&self, url: &str) {
        let login = r#"{"claudeAiOauth":{"accessToken":"sk-ant-oat01-fake","refreshToken":"sk-ant-ort01-fake","expiresAt":4102444800000,"scopes":["user:inference","user:profile"],"subscriptionType":"max"}}"#;
        self.write(".claude/.credentials.json", login);
        self.write(".claude/CLAUDE.md", INSTRUCTIONS);
        let hook = self.shows("hook");
        self.write(
            ".claude/settings.json",
            &format!(
                r#"{{"env":{{"ANTHROPIC_BASE_URL":"{url}"}},
                "hooks":{{"UserPromptSubmit":[{{"hooks":[{{"type":"command","command":"{hook}"}}]}}]}}}}"#
            ),
        );
    }

    /// Codex takes its address from the settings that we have it ignore. So a program of the same
    /// name, earlier on the path, passes all arguments on with the address before them.
    fn codex(&self, url: &str) {
        self.write(".codex/auth.json", r#"{"OPENAI_API_KEY":"sk-fake"}"#);
        let server = self.shows("server");
        self.write(
            ".codex/config.toml",
            &format!("[mcp_servers.mine]\ncommand = \"/bin/sh\"\nargs = [\"-c\", \"{server}\"]\n"),
        );
        let place = self.folder.parent().unwrap();
        let real = place.join("node_modules/.bin/codex");
        let vendor = format!(
            r#"model_providers.fake={{name="fake",base_url="{url}/v1",wire_api="responses",requires_openai_auth=true,supports_websockets=false}}"#
        );
        let script =
            format!("#!/bin/sh\nexec {} -c model_provider=fake -c '{vendor}' \"$@\"\n", real.display());
        let wrapper = place.join("bin/codex");
        fs::create_dir_all(place.join("bin")).unwrap();
        fs::write(&wrapper, script).unwrap();
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn gemini(&self, url: &str) {
        self.write(".gemini/.env", &format!("GEMINI_API_KEY=AIfake\nGOOGLE_GEMINI_BASE_URL={url}\n"));
        let (hook, server) = (self.shows("hook"), self.shows("server"));
        self.write(
            ".gemini/settings.json",
            &format!(
                r#"{{"security":{{"auth":{{"selectedType":"gemini-api-key"}}}},"tools":{{"core":["read_file"]}},
                "mcpServers":{{"mine":{{"command":"/bin/sh","args":["-c","{server}"]}}}},
                "hooks":{{"BeforeAgent":[{{"hooks":[{{"name":"h","type":"command","command":"{hook}"}}]}}]}}}}"#
            ),
        );
    }

    /// Asserts that the user's hooks and servers had no effect, nor their instructions as far as
    /// the program lets them be left out.
    pub(crate) fn kept_to_itself(&self, requests: &[String]) {
        let ran: Vec<_> =
            fs::read_dir(self.folder.join("ran")).unwrap().map(|it| it.unwrap().path()).collect();
        assert_eq!(ran, Vec::<PathBuf>::new(), "{}: the user's set-up ran", self.program);
        let joined = requests.iter().any(|it| it.contains(INSTRUCTIONS));
        assert!(!joined, "{}: the user's instructions are in the prompt", self.program);
    }

    /// Runs Claude Code as a user would, with its tools allowed, and returns its output.
    pub(crate) fn run_with_tools(&self) -> String {
        let mut program = Command::new("claude")
            .args(["-p", "--allowedTools", "Read,Bash"])
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        program.stdin.take().unwrap().write_all(b"Look around.").unwrap();
        format!("{:?}", program.wait_with_output().unwrap())
    }
}
