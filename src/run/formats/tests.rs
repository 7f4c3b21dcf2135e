//! A user's directory of formats, and two formats that want one line.

use super::*;

const A: &str = "[[format]]\nname = \"d-a\"\nmatch = 'A (?<n>\\d+)'\n[[format.samples]]\ntext = \"A 1\"\n";

fn run(text: &str) -> Result<Formats, DeclaredError> {
    let mut formats = Formats::default();
    let file: File = toml::from_str(text).unwrap();
    formats.add(file.format.into_iter().enumerate().collect(), Text { path: "corr.toml", text })?;
    Ok(formats)
}

#[test]
fn the_run_s_definition_replaces_the_user_s_of_the_same_name() {
    let dir = tempfile::tempdir().unwrap();
    let users = A.replace("'A (", "'Other (").replace("A 1", "Other 1");
    std::fs::write(dir.path().join("b.toml"), format!("{users}{}", users.replace("d-a", "d-b").replace("Other", "B"))).unwrap();
    std::fs::write(dir.path().join("notes.txt"), "no TOML").unwrap();
    let formats = run(A).unwrap().with_directory(dir.path()).unwrap();
    assert_eq!(formats.all().iter().map(|f| f.name).collect::<Vec<_>>(), ["d-a", "d-b"]);
    assert!((formats.all()[0].head)(b"A 1") && !(formats.all()[0].head)(b"Other 1"));
    assert_eq!(formats.fingerprint.len(), 64);
    // Neither a missing directory nor one in which all is replaced says anything.
    assert!(Formats::default().with_directory(&dir.path().join("none")).unwrap().all().is_empty());
    std::fs::write(dir.path().join("b.toml"), &users).unwrap();
    assert_eq!(run(A).unwrap().with_directory(dir.path()).unwrap().fingerprint, "");
    // Twice in the user's own files is an error, with file and line.
    std::fs::write(dir.path().join("c.toml"), format!("# again\n{users}")).unwrap();
    let error = Formats::default().with_directory(dir.path()).unwrap_err().to_string();
    assert!(error.ends_with("c.toml:3: format `d-a`: a format of this name is declared already; choose another"), "{error}");
    let own = run(A).unwrap().all()[0];
    assert!(fingerprint(own).is_some() && fingerprint(corr_parsers::FORMATS[0]).is_none());
}

#[test]
fn a_sample_that_another_user_format_takes_is_said() {
    let text = format!("{A}{}", A.replace("d-a", "d-wide").replace("'A (", "'\\w (").replace("A 1", "B 1"));
    assert_eq!(run(&text).unwrap().all().len(), 2);
    let other = text.replace("B 1", "A 7");
    let error = run(&other).unwrap_err().to_string();
    assert!(error.starts_with("corr.toml:10: format `d-wide`: sample 1: it is taken by d-a before this format"), "{error}");
}
