//! A view does not outlive its layout.
use lanebook::layout::{Layout, LayoutRef};

fn view() -> LayoutRef<'static> {
    let layout = Layout::new();
    layout.view()
}

fn main() {
    let _ = view();
}
