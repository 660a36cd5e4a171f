//! What to type next.

use crate::page::{Label, Page};
use crate::style::Style;

/// Lays out commands with what each does; nothing for no commands.
pub fn text(commands: &[(String, &str)], style: &Style) -> String {
    let mut page = Page::new(style);
    for (n, (command, does)) in commands.iter().enumerate() {
        let label = Label {
            indent: 0,
            text: if n == 0 { "next" } else { "" },
            column: 6,
        };
        page.labelled(&label, &format!("`{command}` {does}"));
    }
    page.finish()
}
