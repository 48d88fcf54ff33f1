//! What an arithmetic atom computes: a term over its operands, in prefix order.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::Names;
use crate::schema::Term;
use crate::spanned::Spanned;
use lanebook_suggest::remedy;
use lanebook_tables::{IndexOp, TermNode};

/// The words of the index language with their arity.
pub const INDEX_WORDS: [(&str, IndexOp, u8); 12] = [
    ("add", IndexOp::Add, 2),
    ("sub", IndexOp::Sub, 2),
    ("mul", IndexOp::Mul, 2),
    ("and", IndexOp::And, 2),
    ("or", IndexOp::Or, 2),
    ("xor", IndexOp::Xor, 2),
    ("shl", IndexOp::Shl, 2),
    ("shr", IndexOp::Shr, 2),
    ("mul_wide64", IndexOp::MulWide64, 2),
    ("add64", IndexOp::Add64, 2),
    ("extend64", IndexOp::Extend64, 1),
    ("shl64", IndexOp::Shl64, 2),
];

/// Compiles a term; what is wrong with it is reported where it stands.
pub fn compile(term: &Spanned<Term>, operands: &Names, diags: &mut Diagnostics) -> Vec<TermNode> {
    let mut out = Vec::new();
    push(term, operands, &mut out, diags);
    out
}

fn operand(term: &Spanned<Term>, operands: &Names, diags: &mut Diagnostics) -> Option<u8> {
    let Term::Name(name) = &term.value else {
        diags.push(
            Diagnostic::at(term.span, "expected the name of an operand").help("write it in quotes"),
        );
        return None;
    };
    let name = Spanned { value: name.clone(), span: term.span };
    operands.find(&name, "operand", diags).and_then(|n| u8::try_from(n).ok())
}

fn push(term: &Spanned<Term>, operands: &Names, out: &mut Vec<TermNode>, diags: &mut Diagnostics) {
    let (word, args) = match &term.value {
        Term::Int(value) => return out.push(TermNode::Const(*value)),
        Term::Name(_) => return out.extend(operand(term, operands, diags).map(TermNode::Operand)),
        Term::Call(word, args) => (word, args),
    };
    let index_word = INDEX_WORDS.iter().find(|(name, ..)| *name == word.as_str());
    let (skipped, arity) = match (word.as_str(), index_word) {
        (_, Some((_, op, arity))) => {
            out.push(TermNode::Op(*op, *arity));
            (0, usize::from(*arity))
        }
        ("lut3", _) => {
            let table = args.first().and_then(|table| operand(table, operands, diags));
            out.extend(table.map(TermNode::Lut3));
            (1, 4)
        }
        ("byte_permute", _) => {
            out.push(TermNode::BytePermute);
            (0, 3)
        }
        _ => {
            let known = INDEX_WORDS.iter().map(|(name, ..)| *name).chain(["lut3", "byte_permute"]);
            let help = remedy(
                word,
                known.clone(),
                &format!("known words: {}", known.collect::<Vec<_>>().join(", ")),
            );
            return diags.push(
                Diagnostic::at(word.span, format!("unknown word `{}`", word.value)).help(help),
            );
        }
    };
    if args.len() != arity {
        let message = format!("`{}` takes {arity} arguments, here are {}", word.value, args.len());
        diags.push(
            Diagnostic::at(term.span, message)
                .help("hw-tables/SCHEMA.md lists the words of `means`"),
        );
    }
    for arg in args.iter().skip(skipped) {
        push(arg, operands, out, diags);
    }
}
