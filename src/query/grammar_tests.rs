use super::*;
use proptest::prelude::*;

fn ok(query: &str) -> Expr {
    match parse(query) {
        Ok(expr) => expr.without_spans(),
        Err(e) => panic!("{query}: {e}"),
    }
}

fn clause(term: Term) -> Expr {
    Expr::Clause(Clause { term, span: 0..0 })
}

fn word(text: &str) -> Expr {
    clause(Term::Word(text.into()))
}

fn field(name: &str, test: Test) -> Expr {
    clause(Term::Field(Field { name: name.into(), absent_ok: false, test }))
}

fn equals(name: &str, text: &str) -> Expr {
    field(name, Test::Equals(text.into()))
}

fn compare(name: &str, op: Op, value: &str) -> Expr {
    field(name, Test::Compare { op, value: value.into() })
}

fn not(inner: Expr) -> Expr {
    Expr::Not(Box::new(inner))
}

#[test]
fn the_queries_of_the_manual() {
    assert_eq!(
        ok("kind:prefill_batch cached_tokens:>0"),
        Expr::And(vec![equals("kind", "prefill_batch"), compare("cached_tokens", Op::Gt, "0")])
    );
    assert_eq!(ok("\"retract requests\""), clause(Term::Phrase("retract requests".into())));
    assert_eq!(ok("session:abc#1"), equals("session", "abc#1"));
    assert_eq!(ok("worker:decode*"), field("worker", Test::Prefix("decode".into())));
    assert_eq!(ok("rid:7c1e…"), field("rid", Test::Prefix("7c1e".into())));
    assert_eq!(ok("rid:7c1e-22*"), field("rid", Test::Prefix("7c1e-22".into())));
    assert_eq!(ok("level:>=warn"), compare("level", Op::Ge, "warn"));
    assert_eq!(ok("queue_reqs:*"), field("queue_reqs", Test::Exists));
    assert_eq!(ok("/#token: \\d+\\/s/"), clause(Term::Regex("#token: \\d+/s".into())));
    assert_eq!(ok("message:/a|b/"), field("message", Test::Regex("a|b".into())));
    let absent = Field { name: "x".into(), absent_ok: true, test: Test::Equals("1".into()) };
    assert_eq!(ok("x?:1"), clause(Term::Field(absent)));
    assert_eq!(ok(""), Expr::All);
    assert_eq!(ok(" * "), Expr::All);
}

#[test]
fn operators_and_precedence() {
    let (a, b, c) = (word("a"), word("b"), word("c"));
    assert_eq!(ok("a b OR c"), Expr::Or(vec![Expr::And(vec![a.clone(), b.clone()]), c.clone()]));
    assert_eq!(ok("a AND (b || c)"), Expr::And(vec![a.clone(), Expr::Or(vec![b.clone(), c.clone()])]));
    assert_eq!(ok("+a -b NOT c"), Expr::And(vec![a.clone(), not(b.clone()), not(c.clone())]));
    assert_eq!(ok("-(a OR b) && !c"), Expr::And(vec![not(Expr::Or(vec![a.clone(), b.clone()])), not(c)]));
    assert_eq!(ok("((a))(b)".replace(")(", ") (").as_str()), Expr::And(vec![a, b]));
    assert_eq!(ok("and or ANDY"), Expr::And(vec![word("and"), word("or"), word("ANDY")]));
    assert_eq!(ok("\\AND"), word("AND"));
}

#[test]
fn values_with_punctuation() {
    for text in
        ["host:30000", "http://10.0.0.1:30000/v1?x=1".trim_end_matches("?x=1"), "12:02:08", "/v1/models", "a/b", "-5", "x=y", "abc…d"]
    {
        assert_eq!(ok(&format!("f:{text}")), equals("f", text), "{text}");
    }
    assert_eq!(ok(r"f:a\ b\*\(c\)"), equals("f", "a b*(c)"));
    assert_eq!(ok(r#"f:"a \"b\" \\ c""#), equals("f", r#"a "b" \ c"#));
    assert_eq!(ok("f:=-5"), equals("f", "-5"));
    assert_eq!(ok("f:<-0.5"), compare("f", Op::Lt, "-0.5"));
    assert_eq!(ok("f:!=\"a b\""), compare("f", Op::Ne, "a b"));
    assert_eq!(ok("größe:5"), equals("größe", "5"));
    assert_eq!(ok("#new-token:5"), equals("#new-token", "5"));
    assert_eq!(ok("\"token usage\":>0.5"), compare("token usage", Op::Gt, "0.5"));
    assert_eq!(ok("token\\ usage:5"), equals("token usage", "5"));
}

#[test]
fn words_that_look_like_fields() {
    for text in [
        "12:02:08",
        "10.0.0.1:30000",
        "http://host:80/x",
        "dynamo_llm::kv_router",
        "/v1/models",
        "/generate",
        "--tp-size",
        "foo-bar",
        "a,b",
    ] {
        assert_eq!(ok(text), word(text), "{text}");
    }
    assert_eq!(ok("pre*"), clause(Term::Prefix("pre".into())));
    let glob = Glob { parts: vec![Part::Any, Part::Text("fill".into()), Part::One] };
    assert_eq!(ok("**fill?"), clause(Term::Glob(glob)));
    assert_eq!(ok(r"a\*"), word("a*"));
}

#[test]
fn ranges_lists_and_groups() {
    let bound = |value: &str, inclusive| Some(Bound { value: value.into(), inclusive });
    let range = |lo, hi| field("n", Test::Range { lo, hi });
    assert_eq!(ok("n:[1 TO 5]"), range(bound("1", true), bound("5", true)));
    assert_eq!(ok("n:{-1 TO 5]"), range(bound("-1", false), bound("5", true)));
    assert_eq!(ok("n:[a TO b}"), range(bound("a", true), bound("b", false)));
    assert_eq!(ok("n:[ * TO \"b c\" ]"), range(None, bound("b c", true)));
    assert_eq!(ok("n:[1 TO *}"), range(bound("1", true), None));
    let either = Expr::Or(vec![equals("n", "a"), equals("n", "b c")]);
    assert_eq!(ok("n:IN [a \"b c\"]"), either);
    assert_eq!(ok("n:IN[a, \"b c\"]"), either);
    assert_eq!(ok("n:(a OR \"b c\")"), either);
    assert_eq!(
        ok("n:(>-5 -x !=3 -7)"),
        Expr::And(vec![compare("n", Op::Gt, "-5"), not(equals("n", "x")), compare("n", Op::Ne, "3"), equals("n", "-7")])
    );
}

#[test]
fn spans_are_the_clauses_text() {
    let query = "größe:>5 AND (foo OR level:IN [warn error])";
    let expr = parse(query).unwrap();
    let mut texts = Vec::new();
    expr.each_clause(&mut |c| texts.push(&query[c.span.clone()]));
    assert_eq!(texts, ["größe:>5", "foo", "level:IN [warn", "error"]);
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        (
            "level:",
            "column 7: expected a value after `level:`, found the end; write `level:*` for any value, or `level\\:` for the text itself",
        ),
        ("a (b c", "column 7: expected `)`, found the end; it closes the `(` at byte 3"),
        (
            "ab \"cd",
            "column 4: expected a closing `\"`, found `\"`; the quote that opens here is never closed; write `\\\"` for the character itself",
        ),
        ("a OR", "column 5: expected a term, found the end; the query ends where something should follow"),
        ("é AND OR b", "column 7: expected a term, found `O`; an operator stands between two terms; write `\\AND` for the word itself"),
        ("a)", "column 2: expected a term or the end of the query, found `)`; no `(` is open here; write `\\)` for the character itself"),
        ("foo(x)", "column 4: expected a blank before the next term, found `(`; quote the whole text, or write `\\` before the character"),
        (
            "x --",
            "column 3: expected a word to search for, found `-`; there is no letter or digit in it; search punctuation with a pattern: `/--/`",
        ),
        (
            "n:[1 5]",
            "column 6: expected `TO`, found `5`; a range is `[1 TO 5]`, `{1 TO 5}` without its ends, `[1 TO *]` without an upper end",
        ),
        (
            "n:[1 TO 5",
            "column 10: expected `]` or `}`, found the end; a range is `[1 TO 5]`, `{1 TO 5}` without its ends, `[1 TO *]` without an upper end",
        ),
        ("n:>a*", "column 4: expected a value without wildcards, found `a`; quote it, or write `\\*` for the character itself"),
        ("a\\", "column 2: expected a character after `\\`, found `\\`; write `\\\\` for a backslash"),
    ];
    for (query, want) in cases {
        assert_eq!(parse(query).unwrap_err().to_string(), want, "{query}");
    }
    assert_eq!(parse("a )").unwrap_err().pointer(), "a )\n  ^");
}

#[test]
fn depth_and_length_are_bounded() {
    let nested = |n: usize| format!("{}a{}", "(".repeat(n), ")".repeat(n));
    assert_eq!(ok(&nested(MAX_DEPTH)), word("a"));
    assert!(parse(&nested(MAX_DEPTH + 1)).unwrap_err().hint.contains("nest at most 64"));
    assert!(parse(&"NOT ".repeat(5000)).is_err());
    assert!(parse(&"(".repeat(MAX_LEN)).is_err());
    assert!(parse(&"ä".repeat(MAX_LEN)).unwrap_err().hint.contains("at most"));
    assert!(parse(&"n:(".repeat(100)).is_err());
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9]{1,4}",
        "[-a-zA-Zé/:.*?#…\"\\\\()\\[\\]{} |&<>=!+0-9]{0,8}x",
        Just("AND".into()),
        Just("TO".into()),
        Just("IN".into())
    ]
}

fn glob() -> impl Strategy<Value = Glob> {
    (text(), any::<bool>(), text(), any::<bool>()).prop_map(|(a, one, b, first)| {
        let wild = if one { Part::One } else { Part::Any };
        let front = first.then_some(Part::Any);
        Glob::new(front.into_iter().chain([Part::Text(a), wild, Part::Text(b)]))
    })
}

fn pattern() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z/ ]{1,6}", "(\\\\[dws.\\\\]|[a-z/+]){1,5}"]
}

fn term() -> impl Strategy<Value = Term> {
    let end = || prop::option::of((text(), any::<bool>()).prop_map(|(value, inclusive)| Bound { value, inclusive }));
    let op = prop::sample::select(vec![Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Ne]);
    let test = prop_oneof![
        Just(Test::Exists),
        text().prop_map(Test::Equals),
        text().prop_map(Test::Prefix),
        glob().prop_map(Test::Glob),
        pattern().prop_map(Test::Regex),
        (op, text()).prop_map(|(op, value)| Test::Compare { op, value }),
        (end(), end()).prop_map(|(lo, hi)| Test::Range { lo, hi }),
    ];
    let named = (text(), any::<bool>(), test).prop_map(|(name, absent_ok, test)| Term::Field(Field { name, absent_ok, test }));
    prop_oneof![
        text().prop_map(Term::Word),
        text().prop_map(Term::Phrase),
        text().prop_map(Term::Prefix),
        glob().prop_map(Term::Glob),
        pattern().prop_map(Term::Regex),
        named,
    ]
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![9 => term().prop_map(clause), 1 => Just(Expr::All)];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Expr::and),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Expr::or),
            inner.prop_map(not),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_parses_or_fails_with_a_place(query in any::<String>()) {
        if let Err(e) = parse(&query) {
            prop_assert!(e.at <= query.len() && e.column <= query.chars().count() + 1);
            prop_assert!(!e.to_string().is_empty() && !e.pointer().is_empty());
        }
    }

    #[test]
    fn what_parses_prints_and_parses_again(query in "([a-z]{1,2}|[ :\"/()*?…\\\\\\[\\]{}<>=!+-]|AND|OR|NOT|IN|TO| ){0,14}") {
        if let Ok(expr) = parse(&query) {
            expr.each_clause(&mut |c| assert!(query.get(c.span.clone()).is_some()));
            let printed = expr.to_string();
            let again = parse(&printed);
            prop_assert_eq!(again.map(Expr::without_spans), Ok(expr.without_spans()), "{} from {}", printed, query);
        }
    }

    #[test]
    fn every_expression_prints_and_parses_again(expr in expr()) {
        let printed = expr.to_string();
        prop_assert_eq!(parse(&printed).map(Expr::without_spans), Ok(expr), "{}", printed);
    }
}
