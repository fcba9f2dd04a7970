//! Reading a receipt somebody hands over: its shape, the form of its digests, its hash. Nothing else; a
//! receipt that passes says nothing about who wrote it.

use super::{Receipt, ReceiptError, ReceiptV0, ReceiptV1};

/// Reads the bytes of a receipt file as v0, else as v1-draft, and checks its hash.
///
/// # Errors
/// [`ReceiptError`].
pub fn verify_receipt(bytes: &[u8]) -> Result<Receipt, ReceiptError> {
    let receipt = match ReceiptV0::parse(bytes) {
        Ok(receipt) => Receipt::V0(receipt),
        Err(v0) => match ReceiptV1::parse(bytes) {
            Ok(receipt) => Receipt::V1(Box::new(receipt)),
            Err(ReceiptError::NotV1(v1)) => return Err(ReceiptError::NoReceipt { v0, v1 }),
            Err(error) => return Err(error),
        },
    };
    receipt.verify()?;
    Ok(receipt)
}

#[cfg(test)]
mod tests {
    use super::super::ReceiptFormat;
    use super::super::testing::{failed, worked};
    use super::*;

    fn file(format: ReceiptFormat) -> String {
        let bytes = Receipt::of(&worked(), format).unwrap().to_bytes();
        String::from_utf8(bytes).unwrap()
    }

    fn refusal(text: &str) -> String {
        verify_receipt(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn both_forms_verify_in_any_layout() {
        for format in [ReceiptFormat::V0, ReceiptFormat::V1Draft] {
            let receipt = verify_receipt(file(format).as_bytes()).unwrap();
            assert_eq!(Some(&receipt), Receipt::of(&worked(), format).as_ref());
            let compact: serde_json::Value = serde_json::from_str(&file(format)).unwrap();
            assert!(verify_receipt(compact.to_string().as_bytes()).is_ok());
        }
        let failure = Receipt::of(&failed(), ReceiptFormat::V1Draft).unwrap();
        assert!(verify_receipt(&failure.to_bytes()).is_ok());
    }

    #[test]
    fn only_the_draft_has_a_schema_version() {
        let schema = |format| {
            let receipt = verify_receipt(file(format).as_bytes()).unwrap();
            receipt.schema_version().map(str::to_owned)
        };
        assert_eq!(schema(ReceiptFormat::V0), None);
        assert_eq!(
            schema(ReceiptFormat::V1Draft).as_deref(),
            Some("1.0.0-draft")
        );
    }

    #[test]
    fn a_changed_member_is_a_digest_mismatch() {
        for format in [ReceiptFormat::V0, ReceiptFormat::V1Draft] {
            let changed = file(format).replace("\"fs.read\"", "\"fs.write\"");
            let error = refusal(&changed);
            assert!(error.contains("digest mismatch"), "{error}");
        }
    }

    #[test]
    fn a_digest_in_another_form_is_named() {
        for format in [ReceiptFormat::V0, ReceiptFormat::V1Draft] {
            let changed = file(format).replace("sha256:44136f", "sha256:44136F");
            let error = refusal(&changed);
            assert!(
                error.contains("invalid digest format: sha256:44136F"),
                "{error}"
            );
        }
    }

    #[test]
    fn unknown_missing_and_duplicate_members_are_refused() {
        for format in [ReceiptFormat::V0, ReceiptFormat::V1Draft] {
            let good = file(format);
            let unknown = good.replacen('{', "{\"extra\": 1,", 1);
            let missing = good.replacen("\"inputs_hash\"", "\"inputs_hash2\"", 1);
            let duplicate = good.replacen('{', "{\"caps_used\": [],", 1);
            for text in [unknown, missing, duplicate, String::new(), "[]".into()] {
                let error = refusal(&text);
                assert!(
                    error.starts_with("invalid receipt v1 draft JSON: "),
                    "{error}"
                );
            }
        }
    }
}
