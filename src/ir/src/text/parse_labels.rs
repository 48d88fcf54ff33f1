//! Branches to labels, `cf.cond_br %c, ^bb1, ^bb2`, as Triton prints a kernel that returns early:
//! branches of two parts. The block of the first name stands right behind the branch, that of the
//! second one behind the first's end, and each of them ends the function, itself or by branches of
//! its own. So blocks form a tree, and each is read into the part that it is.
use crate::error::{ErrorKind, IrError, Lexeme};
use crate::handle::Op;
use crate::text::lexer::Token;
use crate::text::parse::Parser;
use crate::text::parse_op::Names;
use lanebook_tables::OpRole;

impl Parser<'_, '_, '_> {
    /// Whether `%c, ^bb1` comes next.
    pub(crate) fn leads_to_labels(&mut self) -> bool {
        let mut ahead = self.lexer;
        ahead.next().kind == Lexeme::ValueName
            && ahead.next().kind == Lexeme::Char(b',')
            && ahead.next().kind == Lexeme::Label
    }

    /// `%c, ^bb1, ^bb2` and the label `^bb1:`; the name is taken.
    pub(crate) fn branch_to_labels(
        &mut self,
        op: Op,
        names: &Names,
        token: Token,
    ) -> Result<(), IrError> {
        // Within a loop or a part of another branch the end of a block is not the function's.
        if !names.is_empty() || !self.ends_function(op) {
            return Err(self.fail(ErrorKind::LabelForm, token));
        }
        self.condition(op)?;
        self.take(Lexeme::Char(b','))?;
        let labels = self.peek().start;
        self.take(Lexeme::Label)?;
        self.take(Lexeme::Char(b','))?;
        self.take(Lexeme::Label)?;
        self.open_part(op, 0, labels)
    }

    /// Whether an operation's block ends with the function.
    fn ends_function(&self, op: Op) -> bool {
        let around = self.program.parent(op);
        self.labels().is_some()
            || around.is_some_and(|around| self.program.role(around) == OpRole::Function)
    }

    /// Reads the label of a part, `^bb1:`, and opens it.
    fn open_part(&mut self, op: Op, part: usize, labels: usize) -> Result<(), IrError> {
        let token = self.take(Lexeme::Label)?;
        if !self.is_named(token, part, labels) {
            return Err(self.fail(ErrorKind::LabelForm, token));
        }
        self.take(Lexeme::Char(b':'))?;
        self.open_region(op, part, token)?;
        self.label_region(labels);
        Ok(())
    }

    /// Whether a label is the one of a part; those of both stand at a place of the text.
    fn is_named(&self, label: Token, part: usize, labels: usize) -> bool {
        let mut ahead = self.lexer;
        ahead.at = labels;
        let mut named = ahead.next();
        if part > 0 {
            ahead.next();
            named = ahead.next();
        }
        self.lexer.slice(named) == self.lexer.slice(label)
    }

    /// `return` in a part, whose name comes next: the end of its block. What stands behind it is the
    /// next block, or the end of the function.
    pub(crate) fn part_returns(&mut self) -> Result<(), IrError> {
        self.next();
        let token = self.peek();
        match token.kind {
            Lexeme::Char(b'}') => Ok(()),
            Lexeme::Label => self.next_part(token),
            // What a function gives back is given back at one place.
            _ => Err(self.fail(ErrorKind::LabelForm, token)),
        }
    }

    /// The part whose label comes next: the second one of a branch whose first has ended.
    fn next_part(&mut self, token: Token) -> Result<(), IrError> {
        while let Some((op, part, labels)) = self.leave_part() {
            if part == 0 {
                return self.open_part(op, 1, labels);
            }
        }
        Err(self.fail(ErrorKind::LabelForm, token))
    }

    /// Closes the parts that end with the function.
    pub(crate) fn leave_parts(&mut self, token: Token) -> Result<(), IrError> {
        while let Some((_, part, _)) = self.leave_part() {
            if part == 0 {
                return Err(self.fail(ErrorKind::LabelForm, token));
            }
        }
        Ok(())
    }
}
