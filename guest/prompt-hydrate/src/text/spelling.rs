//! One spelling for many: contractions taken apart, British forms made American, common slips set right (Q-121).

use super::lexicon::within;
use crate::text::lexicon::phrases;

/// Contractions with and without their apostrophe, and what they stand for.
static CONTRACTIONS: &[(&str, &[&str])] = &[
    ("ain't", &["is", "not"]),
    ("aint", &["is", "not"]),
    ("aren't", &["are", "not"]),
    ("arent", &["are", "not"]),
    ("can't", &["can", "not"]),
    ("cannot", &["can", "not"]),
    ("cant", &["can", "not"]),
    ("couldn't", &["could", "not"]),
    ("couldnt", &["could", "not"]),
    ("didn't", &["did", "not"]),
    ("didnt", &["did", "not"]),
    ("doesn't", &["does", "not"]),
    ("doesnt", &["does", "not"]),
    ("don't", &["do", "not"]),
    ("dont", &["do", "not"]),
    ("dunno", &["do", "not", "know"]),
    ("gimme", &["give", "me"]),
    ("gonna", &["going", "to"]),
    ("gotta", &["have", "to"]),
    ("hadn't", &["had", "not"]),
    ("hasn't", &["has", "not"]),
    ("hasnt", &["has", "not"]),
    ("haven't", &["have", "not"]),
    ("havent", &["have", "not"]),
    ("he's", &["he", "is"]),
    ("here's", &["here", "is"]),
    ("how'd", &["how", "did"]),
    ("how's", &["how", "is"]),
    ("hows", &["how", "is"]),
    ("i'd", &["i", "would"]),
    ("i'll", &["i", "will"]),
    ("i'm", &["i", "am"]),
    ("i've", &["i", "have"]),
    ("im", &["i", "am"]),
    ("isn't", &["is", "not"]),
    ("isnt", &["is", "not"]),
    ("it'd", &["it", "would"]),
    ("it'll", &["it", "will"]),
    ("it's", &["it", "is"]),
    ("ive", &["i", "have"]),
    ("let's", &["lets"]),
    ("mustn't", &["must", "not"]),
    ("needn't", &["need", "not"]),
    ("shouldn't", &["should", "not"]),
    ("shouldnt", &["should", "not"]),
    ("that's", &["that", "is"]),
    ("thats", &["that", "is"]),
    ("there's", &["there", "is"]),
    ("theres", &["there", "is"]),
    ("they'll", &["they", "will"]),
    ("they're", &["they", "are"]),
    ("they've", &["they", "have"]),
    ("wanna", &["want", "to"]),
    ("wasn't", &["was", "not"]),
    ("wasnt", &["was", "not"]),
    ("we'd", &["we", "would"]),
    ("we'll", &["we", "will"]),
    ("we're", &["we", "are"]),
    ("we've", &["we", "have"]),
    ("weren't", &["were", "not"]),
    ("werent", &["were", "not"]),
    ("what'd", &["what", "did"]),
    ("what're", &["what", "are"]),
    ("what's", &["what", "is"]),
    ("whats", &["what", "is"]),
    ("when's", &["when", "is"]),
    ("where's", &["where", "is"]),
    ("wheres", &["where", "is"]),
    ("who's", &["who", "is"]),
    ("whos", &["who", "is"]),
    ("why'd", &["why", "did"]),
    ("why's", &["why", "is"]),
    ("whys", &["why", "is"]),
    ("won't", &["will", "not"]),
    ("wont", &["will", "not"]),
    ("wouldn't", &["would", "not"]),
    ("wouldnt", &["would", "not"]),
    ("you'd", &["you", "would"]),
    ("you'll", &["you", "will"]),
    ("you're", &["you", "are"]),
    ("youre", &["you", "are"]),
];

/// Short words that are too short for the distance rule, as they are often mistyped or abbreviated.
static SLIPS: &[(&str, &str)] = &[
    ("adn", "and"),
    ("becuase", "because"),
    ("cna", "can"),
    ("coudl", "could"),
    ("definately", "definitely"),
    ("doe", "does"),
    ("expalin", "explain"),
    ("explian", "explain"),
    ("fo", "of"),
    ("funciton", "function"),
    ("hte", "the"),
    ("hwo", "how"),
    ("improt", "import"),
    ("inot", "into"),
    ("mkae", "make"),
    ("nad", "and"),
    ("paramter", "parameter"),
    ("plese", "please"),
    ("pls", "please"),
    ("plz", "please"),
    ("r", "are"),
    ("recieve", "receive"),
    ("seperate", "separate"),
    ("shoudl", "should"),
    ("taht", "that"),
    ("teh", "the"),
    ("thsi", "this"),
    ("u", "you"),
    ("waht", "what"),
    ("wehn", "when"),
    ("wehre", "where"),
    ("wht", "what"),
    ("whta", "what"),
    ("wich", "which"),
    ("wiht", "with"),
    ("woudl", "would"),
    ("ur", "your"),
    ("wy", "why"),
    ("yuo", "you"),
];

phrases! {
    /// Words in `-ise` that are not of the `-ize` kind.
    ISE =
    "|advise|arise|chemise|comprise|compromise|concise|demise|devise|disguise|enterprise|exercise|expertise\
     |franchise|improvise|likewise|merchandise|noise|otherwise|paradise|poise|praise|precise|premise|promise\
     |raise|revise|rise|supervise|surprise|televise|wise"
}

/// Beginnings and what they become.
static BRITISH: &[(&str, &str)] = &[
    ("analys", "analyz"),
    ("armour", "armor"),
    ("artefact", "artifact"),
    ("behaviour", "behavior"),
    ("cancell", "cancel"),
    ("catalogue", "catalog"),
    ("centre", "center"),
    ("cheque", "check"),
    ("colour", "color"),
    ("defence", "defense"),
    ("dialogue", "dialog"),
    ("endeavour", "endeavor"),
    ("favour", "favor"),
    ("fibre", "fiber"),
    ("flavour", "flavor"),
    ("fulfil", "fulfil"),
    ("grey", "gray"),
    ("harbour", "harbor"),
    ("honour", "honor"),
    ("humour", "humor"),
    ("judgement", "judgment"),
    ("labell", "label"),
    ("labour", "labor"),
    ("licence", "license"),
    ("modell", "model"),
    ("neighbour", "neighbor"),
    ("offence", "offense"),
    ("paralys", "paralyz"),
    ("programme", "program"),
    ("rumour", "rumor"),
    ("signall", "signal"),
    ("theatre", "theater"),
    ("travell", "travel"),
    ("whilst", "while"),
];

/// The words one lower-case word stands for.
#[must_use]
pub fn expand(word: &str) -> Option<&'static [&'static str]> {
    CONTRACTIONS
        .binary_search_by(|(short, _)| (*short).cmp(word))
        .ok()
        .and_then(|place| CONTRACTIONS.get(place))
        .map(|(_, words)| *words)
}

/// A lower-case word in the one spelling that the lexicon, the triggers and the model know.
#[must_use]
pub fn normal(word: &str) -> String {
    let word = word
        .strip_suffix("'s")
        .or_else(|| word.strip_suffix('\''))
        .unwrap_or(word);
    if let Some((_, right)) = SLIPS.iter().find(|(slip, _)| *slip == word) {
        return (*right).to_owned();
    }
    for (british, american) in BRITISH {
        if let Some(rest) = word.strip_prefix(british) {
            // "analysis" and "programmer" keep their ending.
            if matches!(
                (*british, rest),
                ("analys" | "paralys", "is" | "t" | "ts") | ("programme", "r" | "rs" | "d")
            ) {
                break;
            }
            return format!("{american}{rest}");
        }
    }
    for ending in ["ise", "ised", "ises", "ising", "isation", "isations"] {
        let Some(stem) = word.strip_suffix(ending) else {
            continue;
        };
        let base = format!("{stem}ise");
        if stem.len() >= 3
            && !within(ISE, &base)
            && !ISE
                .iter()
                .any(|kept| kept.len() > 4 && base.ends_with(kept))
        {
            return format!("{stem}iz{}", ending.strip_prefix("is").unwrap_or_default());
        }
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_121_british_and_american_spelling_are_one() {
        for (british, american) in [
            ("normalise", "normalize"),
            ("organisation", "organization"),
            ("colour", "color"),
            ("behaviours", "behaviors"),
            ("analyse", "analyze"),
            ("labelled", "labeled"),
            ("centred", "centred"),
        ] {
            assert_eq!(normal(british), normal(american), "{british}");
        }
        for word in [
            "raise",
            "precise",
            "otherwise",
            "revised",
            "noise",
            "promises",
            "analysis",
            "advise",
        ] {
            assert_eq!(normal(word), word);
        }
    }

    #[test]
    fn q_121_contractions_are_taken_apart() {
        assert!(CONTRACTIONS.is_sorted_by_key(|(short, _)| *short));
        assert!(ISE.is_sorted());
        assert_eq!(expand("doesn't"), Some(["does", "not"].as_slice()));
        assert_eq!(expand("what's"), Some(["what", "is"].as_slice()));
        assert_eq!(expand("user's"), None);
    }
}
