//! docs/kinds.md says what every kind means. It is written from the tables: `CORR_BLESS=1 cargo test -p corr-parsers --test kinds_doc`.

use std::fmt::Write;

use corr_parsers::{FORMATS, text};

fn document() -> String {
    let mut out = String::from(
        "# Kinds\n\nWhat a record says happened, by the format it stands in. `kind:NAME` finds them; a name means the same wherever it is printed.\n",
    );
    for format in FORMATS {
        let _ =
            write!(out, "\n## {}\n\n{}. A record begins with {}.\n\n| kind | says |\n|---|---|\n", format.name, format.about, format.shape);
        for kind in format.kinds {
            let _ = writeln!(out, "| `{}` | {} |", kind.name, kind.about.replace('|', "\\|"));
        }
    }
    out.push_str("\n## text\n\nRecords that no format knows.\n\n| kind | says |\n|---|---|\n");
    for kind in text::kinds::KINDS {
        let _ = writeln!(out, "| `{}` | {} |", kind.name, kind.about.replace('|', "\\|"));
    }
    out
}

#[test]
fn the_document_says_what_the_tables_say() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/kinds.md");
    let want = document();
    if std::env::var_os("CORR_BLESS").is_some() {
        std::fs::write(&path, &want).unwrap();
    }
    let have = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(have == want, "docs/kinds.md is not what the tables say; CORR_BLESS=1 cargo test -p corr-parsers --test kinds_doc writes it");
}
