//! Writes small PDFs.

use std::fmt::Write;

/// A PDF of objects numbered from 1, of which the first is the catalog; `trailer` is added to its trailer.
pub(super) fn pdf(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut file = String::from("%PDF-1.7\n");
    let mut table = String::from("0000000000 65535 f \n");
    for (index, object) in objects.iter().enumerate() {
        writeln!(table, "{:010} 00000 n ", file.len()).unwrap();
        writeln!(file, "{} 0 obj\n{object}\nendobj", index + 1).unwrap();
    }
    let (start, size) = (file.len(), objects.len() + 1);
    write!(
        file,
        "xref\n0 {size}\n{table}trailer\n<</Size {size}/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF\n"
    )
    .unwrap();
    file.into_bytes()
}

/// A stream with more in its dictionary.
pub(super) fn stream(dict: &str, content: &str) -> String {
    format!(
        "<<{dict}/Length {}>>stream\n{content}\nendstream",
        content.len()
    )
}

/// A catalog, a tree of pages and a page for each content, with a font `F` and more objects behind them. The first of
/// those has the number 4 + 2 × pages.
pub(super) fn pages(contents: &[&str], resources: &str, more: &[String]) -> Vec<String> {
    let kids: Vec<String> = (0..contents.len())
        .map(|page| format!("{} 0 R", 4 + 2 * page))
        .collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R/Outlines 100 0 R>>".to_owned(),
        format!(
            "<</Type/Pages/Count {}/Kids[{}]/Resources<</Font<</F 3 0 R>>{resources}>>>>",
            contents.len(),
            kids.join(" ")
        ),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned(),
    ];
    for (page, content) in contents.iter().enumerate() {
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/Contents {} 0 R>>",
            5 + 2 * page
        ));
        objects.push(stream("", content));
    }
    objects.extend(more.iter().cloned());
    objects
}

/// A page that shows text as it is given.
pub(super) fn page(content: &str) -> Vec<u8> {
    pdf(&pages(&[content], "", &[]), "")
}
