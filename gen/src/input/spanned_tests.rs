//! Places of values: with comments, raw strings, letters of several bytes, nested errors.
use super::*;
use crate::schema::Term;

fn sources(text: &str) -> (Sources, Span) {
    let mut sources = Sources::default();
    sources.add("before.ron", None, "something else".into());
    let id = sources.add("x.ron", None, text.into());
    let span = whole(&sources, id);
    (sources, span)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Thing {
    name: Spanned<String>,
    list: Vec<Spanned<u8>>,
    later: Option<Entry>,
    term: Option<Spanned<Term>>,
}

#[test]
fn values_know_their_place() {
    let text = "( // Größe\n  name: /* é */ r#\"a\"b\"#, list: [1, /* two */ 2,\n // three\n 3,],\n  later: (what: ever, list: [\"(\"]),)";
    let (sources, span) = sources(text);
    let thing: Thing = read(&sources, span).unwrap();
    assert_eq!((thing.name.as_str(), sources.text(thing.name.span)), ("a\"b", "r#\"a\"b\"#"));
    assert_eq!(sources.place(thing.name.span), "x.ron:2:17");
    let places: Vec<String> = thing
        .list
        .iter()
        .map(|item| format!("{} at {}", item.value, sources.place(item.span)))
        .collect();
    assert_eq!(places, ["1 at x.ron:2:34", "2 at x.ron:2:47", "3 at x.ron:4:2"]);
    assert_eq!(sources.text(thing.later.unwrap().span), "(what: ever, list: [\"(\"])");
}

#[test]
fn terms_know_the_place_of_every_part() {
    let (sources, span) = sources(
        "(name: \"t\", list: [], term: (\"add\", (\"shl\", \"x\", 0x10), -1, (\"nop\"), ()))",
    );
    let error = read::<Thing>(&sources, span).unwrap_err();
    assert_eq!(
        error.plain(&sources).split("; ").next(),
        Some(
            "x.ron:1:71: error: expected a term: a word in quotes, then its arguments but found zero elements instead"
        )
    );
    let (sources, span) = self::sources(
        "(name: \"t\", list: [], term: (\"add\", (\"shl\", \"x\", 0x10), -1, (\"nop\")))",
    );
    let thing: Thing = read(&sources, span).unwrap();
    let term = thing.term.unwrap();
    let Term::Call(word, args) = &term.value else { panic!("{term:?}") };
    let texts: Vec<&str> = args.iter().map(|arg| sources.text(arg.span)).collect();
    assert_eq!((word.as_str(), texts), ("add", vec!["(\"shl\", \"x\", 0x10)", "-1", "(\"nop\")"]));
    let Term::Call(_, inner) = &args[0].value else { panic!("{term:?}") };
    assert_eq!((&inner[0].value, &inner[1].value), (&Term::Name("x".into()), &Term::Int(16)));
    assert_eq!(sources.place(inner[1].span), "x.ron:1:50");
}

#[test]
fn the_innermost_error_is_shown_at_its_place() {
    for (text, expected) in [
        ("(name: \"é\", list: [1, 2, 300])", "x.ron:1:26: error: integer is out of bounds"),
        ("(name: \"é\",\n list: [1, \"2\"])", "x.ron:2:12: error: expected integer"),
        ("(name: \"a\", liste: [])", "x.ron:1:13: error: unknown field `liste`"),
        ("(name: \"a\")", "x.ron:1:1: error: field `list` is missing"),
        (
            "(name: \"a\", list: [], name: \"b\")",
            "x.ron:1:23: error: field `name` stands here twice",
        ),
        ("(name: \"a\", list: []", "x.ron:1:20: error: expected comma"),
        ("(name: \"a, list: []", "x.ron:1:8: error: expected end of string"),
    ] {
        let (sources, span) = sources(text);
        let found = read::<Thing>(&sources, span).unwrap_err().plain(&sources);
        assert!(found.starts_with(expected), "{text}: {found}");
    }
}

#[test]
fn reading_nests() {
    // A value may be read while another is being read, as `Entry::read` inside a visitor would.
    let (sources, span) = sources("[(name: \"a\", list: [1], later: (name: \"b\", list: [7]))]");
    let things: Vec<Spanned<Thing>> = read(&sources, span).unwrap();
    let inner: Spanned<Thing> = things[0].later.unwrap().read(&sources).unwrap();
    assert_eq!(
        (inner.list[0].value, sources.place(inner.list[0].span)),
        (7, "x.ron:1:51".to_string())
    );
}

/// Behind a word that is nearly right the rest is read too, and places stay those of the file as it
/// is written.
#[test]
fn what_was_meant_is_read() {
    let text = "(nam: \"a\", lst: [1,\n 2], nobody: (x: [1, \")\"], y: 2), trm: \"é\", later: 7)";
    let (sources, span) = sources(text);
    let AsMeant { value, errors, left_out } = read_as_meant::<Thing>(&sources, span);
    let value = value.unwrap();
    assert_eq!((value.name.as_str(), sources.text(value.name.span)), ("a", "\"a\""));
    assert_eq!(
        value.list.iter().map(|item| sources.place(item.span)).collect::<Vec<_>>(),
        ["x.ron:1:18", "x.ron:2:2"]
    );
    assert_eq!(sources.text(value.term.unwrap().span), "\"é\"");
    assert_eq!(sources.text(value.later.unwrap().span), "7");
    assert_eq!(
        left_out.iter().map(|field| sources.text(*field)).collect::<Vec<_>>(),
        ["nobody: (x: [1, \")\"], y: 2),"]
    );
    let said: Vec<String> = errors
        .iter()
        .map(|error| format!("{}: {}", sources.place(error.labels[0].span), error.message))
        .collect();
    assert_eq!(
        said,
        [
            "x.ron:1:2: unknown field `nam`",
            "x.ron:1:12: unknown field `lst`",
            "x.ron:2:6: unknown field `nobody`",
            "x.ron:2:35: unknown field `trm`"
        ]
    );
    assert_eq!(sources.text(errors[3].labels[0].span), "trm");
}

/// A word whose better neighbour is there too is not guessed, and what is missing still is.
#[test]
fn what_was_meant_is_not_guessed() {
    for (text, said) in [
        ("(name: \"a\", nam: \"b\", list: [])", "unknown field `nam`"),
        ("(list: [], term: \"x\")", "field `name` is missing"),
        ("(name \"a\")", "expected colon"),
    ] {
        let (sources, span) = sources(text);
        let AsMeant { value, errors, .. } = read_as_meant::<Thing>(&sources, span);
        assert!(
            value.is_none() && errors.len() == 1 && errors[0].message.contains(said),
            "{text}: {errors:?}"
        );
    }
}
