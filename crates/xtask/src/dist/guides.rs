//! The files that docs/ci.md gives to people's CI, as scripts for a bare Debian: what their runners would do, step by step.

/// The scripts begin so: what runners have and a chroot has not.
const RUNNER: &str = "set -eu\nsudo() { \"$@\"; }\nexport GITHUB_STEP_SUMMARY=$PWD/step.md\n";

/// COPY, ENV and RUN of a Dockerfile, in the folder that it copies from.
pub fn dockerfile(text: &str) -> Result<String, String> {
    let joined = text.replace("\\\n", " ");
    let mut script = RUNNER.to_string();
    for line in joined.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let (word, rest) = line.split_once(' ').ok_or_else(|| format!("Dockerfile: {line}"))?;
        match word {
            "FROM" => {}
            "COPY" => script += &format!("cp {rest}\n"),
            "ENV" => script += &format!("export {rest}\n"),
            "RUN" => script += &format!("{rest}\n"),
            "CMD" => {
                let words: Vec<String> =
                    serde_json::from_str(rest).map_err(|e| format!("Dockerfile: {line}: {e}"))?;
                script += &format!("{}\n", words.join(" "));
            }
            _ => return Err(format!("Dockerfile: {word} is not known here")),
        }
    }
    Ok(script)
}

/// The variables and scripts of GitLab's file.
pub fn gitlab(text: &str) -> Result<String, String> {
    let mut script = RUNNER.to_string();
    let mut part = "";
    for line in text.lines().filter(|l| l.starts_with("  ")) {
        match line.strip_prefix("    ") {
            None => part = line.trim().trim_end_matches(':'),
            Some(rest) if rest.starts_with('#') => {}
            Some(rest) if part == "variables" => {
                let (name, value) = rest.split_once(": ").ok_or_else(|| format!("gitlab-ci.yml: {line}"))?;
                script += &format!("export {name}={value}\n");
            }
            Some(rest) if part.ends_with("script") => {
                let command = rest.strip_prefix("- ").ok_or_else(|| format!("gitlab-ci.yml: {line}"))?;
                script += &format!("{command}\n");
            }
            Some(_) => {}
        }
    }
    Ok(script)
}

/// The steps of GitHub's file; our action is its script, `setup`, and what follows has what it writes.
pub fn github(text: &str, setup: &str) -> Result<String, String> {
    let mut script = RUNNER.to_string();
    let mut ours = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('#') {
            continue;
        }
        if let Some(command) = line.strip_prefix("- run: ") {
            ours = false;
            script += &format!("{command}\n");
        } else if let Some(action) = line.strip_prefix("- uses: ") {
            ours = action == "./.github/actions/setup-tuff";
        } else if let Some((input, value)) = line.split_once(": ").filter(|_| ours) {
            script += &format!(
                "GITHUB_ENV=$PWD/env GITHUB_PATH=$PWD/path {setup} --{input} {value}\n\
                 while read -r line; do export \"$line\"; done < env\n\
                 if [ -e path ]; then PATH=$(cat path):$PATH; fi\n"
            );
        }
    }
    Ok(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_in_their_order() {
        let docker =
            "# x\nFROM debian\nCOPY a b\nRUN one \\\n    && two\nENV K=v\nCMD [\"three\", \"four\"]\n";
        let body = |script: String| script.strip_prefix(RUNNER).unwrap().to_string();
        assert_eq!(body(dockerfile(docker).unwrap()), "cp a b\none      && two\nexport K=v\nthree four\n");
        assert!(dockerfile("ADD a b\n").is_err());
        let lab = "job:\n  image: x\n  variables:\n    A: b\n  before_script:\n    - one\n  script:\n    # why\n    - two c\n  artifacts:\n    paths: [x]\n";
        assert_eq!(body(gitlab(lab).unwrap()), "export A=b\none\ntwo c\n");
        let hub = "jobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n      - run: one\n      - uses: ./.github/actions/setup-tuff\n        \
            with:\n          package: p.deb\n      # why: this\n      - run: two\n        \
            name: x\n";
        let script = body(github(hub, "/i.sh").unwrap());
        assert!(
            script.starts_with("one\nGITHUB_ENV=$PWD/env GITHUB_PATH=$PWD/path /i.sh --package p.deb\n"),
            "{script}"
        );
        assert!(script.ends_with("\ntwo\n"), "{script}");
    }
}
