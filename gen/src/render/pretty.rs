//! Laying out constant expressions over lines.

/// Columns that a line may have.
const WIDTH: usize = 120;
/// Lists whose parts are all shorter than this share lines.
const SHORT: usize = 24;

/// A constant expression.
pub(super) enum Value {
    /// Without parts.
    Word(String),
    /// Opening text, parts, closing text.
    List(String, Vec<Value>, String),
    /// A part with its field name.
    Field(&'static str, Box<Value>),
}

impl Value {
    /// The expression at an indent of so many levels: on one line if it fits, else a part a line.
    pub(super) fn pretty(&self, level: usize) -> String {
        let mut out = String::new();
        self.write(level, level * 4, &mut out);
        out
    }

    fn write(&self, level: usize, column: usize, out: &mut String) {
        match self {
            Value::Word(word) => out.push_str(word),
            Value::Field(name, value) => {
                out.push_str(name);
                out.push_str(": ");
                value.write(level, column + name.len() + 2, out);
            }
            Value::List(open, parts, close) => {
                let mut line = String::new();
                if self.one_line(WIDTH.saturating_sub(column), &mut line) {
                    return out.push_str(&line);
                }
                out.push_str(open.trim_end());
                out.push('\n');
                let indent = (level + 1) * 4;
                if let Some(short) = short(parts) {
                    fill(&short, indent, out);
                    out.push_str(&" ".repeat(level * 4));
                    return out.push_str(close.trim_start());
                }
                for part in parts {
                    out.push_str(&" ".repeat(indent));
                    part.write(level + 1, indent, out);
                    out.push_str(",\n");
                }
                out.push_str(&" ".repeat(level * 4));
                out.push_str(close.trim_start());
            }
        }
    }

    /// Writes it without line breaks as long as it stays within the room.
    fn one_line(&self, room: usize, out: &mut String) -> bool {
        match self {
            Value::Word(word) => out.push_str(word),
            Value::Field(name, value) => {
                out.push_str(name);
                out.push_str(": ");
                if !value.one_line(room, out) {
                    return false;
                }
            }
            Value::List(open, parts, close) => {
                out.push_str(open);
                for (number, part) in parts.iter().enumerate() {
                    if number > 0 {
                        out.push_str(", ");
                    }
                    if !part.one_line(room, out) {
                        return false;
                    }
                }
                out.push_str(close);
            }
        }
        out.len() <= room
    }
}

/// The parts as text, if there are several and each is short.
fn short(parts: &[Value]) -> Option<Vec<String>> {
    if parts.len() < 8 {
        return None;
    }
    let one = |part: &Value| {
        let mut text = String::new();
        (!matches!(part, Value::Field(..)) && part.one_line(SHORT, &mut text)).then_some(text)
    };
    parts.iter().map(one).collect()
}

/// As many parts on a line as fit.
fn fill(parts: &[String], indent: usize, out: &mut String) {
    let mut column = usize::MAX;
    for part in parts {
        if column.saturating_add(part.len() + 2) > WIDTH {
            if column != usize::MAX {
                out.push('\n');
            }
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(part);
        out.push(',');
        column += part.len() + 1;
    }
    out.push('\n');
}
