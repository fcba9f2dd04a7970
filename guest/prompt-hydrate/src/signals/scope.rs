//! Signals of the group *scope*: how large and how many what is asked for is.

use super::speech::Act;
use super::{Signal, Signals, phrase, words};
use crate::text::Prompt;
use crate::text::lemma::{plural, singular};
use crate::text::lexicon::function_words::{NUMBER_WORDS, TIME_NOUNS};
use crate::text::lexicon::nouns::{GOALS, ITEMS, SMALL};
use crate::text::lexicon::phrases;
use crate::text::lexicon::within;
use crate::text::token::{Kind, Stop, Token};

phrases! {
    HORIZONS =
    "|long term|long-term|multi-year|multi-month|multi-quarter|next year|this year|end of year\
     |end of the year|by summer|by winter|by spring|by autumn|by fall|by christmas|next quarter|this quarter\
     |next semester|next summer|next spring|next autumn|next fall|matter of years|matter of months\
     |multi quarter|multi year|years from now|for years|next winter|over the coming|over the next\
     |in the coming|coming months|coming year|few months|several months|many months|some day|someday|one day\
     |eventually|from zero|down the road|in the long run|before the year|by q1|by q2|by q3|by q4|year-long\
     |by january|by february|by march|by april|by may|by june|by july|by august|by september|by october\
     |by november|by december|quarters|decade|before summer|before winter"
}

phrases! {
    UNKNOWN_PATHS =
    "|where to start|where to begin|where do i start|where do i begin|where do we start|where do we begin\
     |how to start|how to begin|how to get there|get there|no idea how|not sure how|do not know how\
     |dont know how|have no idea|no clue|never done|what would it take|what it would take|what it takes\
     |unclear how|not sure where|unsure how|unsure where|how to approach|how to even|first step|next step\
     |first steps|next steps|somehow|not sure what|big goal|break this down|break it down|break that down\
     |into phases|into milestones|into stages|into chunks|into manageable|into steps|into tasks|into pieces\
     |milestones|roadmap|road map|without a clear|we have no|overwhelmed|overwhelming|daunting"
}

phrases! {
    WHOLE =
    "|whole codebase|entire codebase|whole app|entire app|whole system|entire system|whole project\
     |entire project|from scratch|end to end|end-to-end|across the codebase|across the board|everywhere\
     |all services|whole stack|entire stack|whole thing|entire thing|whole product|entire product\
     |whole company|the monolith|ground up|entire backend|whole backend|whole frontend|entire frontend\
     |across services|throughout the|across all services|whole platform|entire platform|system-wide\
     |systemwide|codebase|whole site|entire site|whole repo|entire repo"
}

phrases! {
    /// Nouns of a moment: "every time", "each release" says when, not how many.
    MOMENTS =
    "|time|request|commit|push|run|release|deploy|build|startup|save|click|call|restart|keystroke|login|boot\
     |retry|morning|night|evening|other|single|one|step|attempt|iteration|merge|reload|frame|tick"
}

pub(super) fn read(prompt: &Prompt, signals: &mut Signals) {
    let all = words(prompt);
    let tokens: Vec<&Token> = prompt.tokens().collect();
    if let Some(clause) = prompt.main_clause() {
        let told = matches!(clause.reading.act, Act::Statement | Act::Fragment);
        let from = if told { 0 } else { clause.reading.object };
        // The head of the object, or the noun of the phrase after "in", "of", "to": near enough to the verb.
        if let Some(token) = small(
            clause.tokens.get(from..).unwrap_or_default(),
            clause.reading.act,
        ) {
            signals.add(Signal::SmallObject, token);
        }
    }
    if let Some(place) = prompt.paths.first().or_else(|| prompt.urls.first()) {
        signals.add(Signal::NamedPlace, place.clone());
    } else if let Some(token) = tokens.iter().find(|token| token.kind == Kind::Identifier) {
        signals.add(Signal::NamedPlace, token.text.clone());
    }
    if let Some(found) = quantifier(&tokens, prompt) {
        signals.add(Signal::QuantifierPlural, found);
    }
    if prompt.paths.len() >= 4 && prompt.clauses.len() >= 3 {
        signals.add(Signal::ItemCount, format!("{} paths", prompt.paths.len()));
    }
    if let Some(count) = &prompt.count {
        signals.add(Signal::ItemCount, count.clone());
    }
    if let Some(token) = tokens.iter().find(|token| {
        token.kind == Kind::Word
            && (within(GOALS, &token.word) || within(GOALS, &singular(&token.word)))
    }) {
        signals.add(Signal::GoalNoun, token.word.clone());
    } else if let Some(found) = phrase(
        &all,
        &[
            "first users",
            "paying customers",
            "thousand users",
            "a company",
            "my own",
            "own company",
            "open source project",
            "first customers",
            "a book",
            "the book",
            "a course",
            "a product",
            "own product",
            "to market",
            "first release",
            "public launch",
            "production ready",
            "production-ready",
            "go live",
            "general availability",
            "learn to",
            "become a",
            "as a business",
            "a platform",
            "first sale",
            "million users",
            "become the",
            "a living",
            "side project",
            "get certified",
            "to production",
        ],
    ) {
        signals.add(Signal::GoalNoun, found);
    }
    if let Some(found) = phrase(&all, HORIZONS)
        .map(str::to_owned)
        .or_else(|| duration(&tokens))
        .or_else(|| year(&tokens))
    {
        signals.add(Signal::LongHorizon, found);
    }
    if let Some(found) = phrase(&all, UNKNOWN_PATHS)
        .map(str::to_owned)
        .or_else(|| into_parts(&tokens))
    {
        signals.add(Signal::UnknownPath, found);
    }
    if let Some(found) = phrase(&all, WHOLE) {
        signals.add(Signal::WholeSystem, found);
    }
}

/// The first small thing among the nouns of an object: in a long noun phrase only its head counts.
fn small(tokens: &[Token], act: Act) -> Option<String> {
    let mut phrases = 0;
    for (at, token) in tokens.iter().enumerate().take(14) {
        if token.kind == Kind::Quoted {
            continue;
        }
        let next_noun = token.stop == Stop::None
            && tokens.get(at + 1).is_some_and(|next| {
                next.kind == Kind::Word && !crate::text::lemma::in_lexicon(&next.word)
            });
        let known = within(SMALL, &token.word) || within(SMALL, &singular(&token.word));
        if token.kind == Kind::Word && known && !next_noun {
            return Some(token.word.clone());
        }
        if token.kind == Kind::Word
            && token.within(crate::text::lexicon::function_words::PREPOSITIONS)
        {
            phrases += 1;
            // "a way to pin a remark on a line": far from the verb it is no longer the object.
            if phrases > 1 && !matches!(act, Act::Statement | Act::Fragment) {
                return None;
            }
        }
    }
    None
}

/// "each of the files", "every module", "all images", "one by one", "in bulk".
fn quantifier(tokens: &[&Token], prompt: &Prompt) -> Option<String> {
    let plain = words(prompt);
    if let Some(found) = phrase(
        &plain,
        &[
            "one by one",
            "in bulk",
            "bulk",
            "en masse",
            "hundreds of",
            "dozens of",
            "thousands of",
            "a bunch of",
            "batch",
            "per file",
            "per-file",
            "for each",
            "across all",
            "in every",
            "in each",
            "to every",
            "to each",
            "on every",
            "on each",
            "from every",
            "from each",
        ],
    ) && !phrase(
        &plain,
        &[
            "every time",
            "each time",
            "every day",
            "every request",
            "for each request",
            "on every request",
            "on each request",
            "on every run",
            "on every page",
            "in every page",
        ],
    )
    .is_some_and(|moment| moment.starts_with(found) || moment.contains(found))
    {
        let next = super::says(&plain, found)
            .and_then(|behind| behind.split_whitespace().next())
            .unwrap_or_default();
        if !(MOMENTS.contains(&next) && !matches!(next, "single" | "one")
            || within(TIME_NOUNS, next))
        {
            return Some(found.to_owned());
        }
    }
    for (at, token) in tokens.iter().enumerate() {
        let Some(next) = tokens.get(at + 1) else {
            break;
        };
        if token.among(&["each", "every"]) {
            if next.kind == Kind::Number
                || next.kind == Kind::Word
                    && (within(TIME_NOUNS, &next.word)
                        || MOMENTS.contains(&next.word.as_str()) && !next.among(&["one", "single"]))
            {
                continue;
            }
            return Some(format!("{} {}", token.word, next.word));
        }
        if token.among(&[
            "all",
            "those",
            "these",
            "remaining",
            "various",
            "multiple",
            "several",
            "many",
        ]) {
            let noun = tokens.iter().skip(at + 1).take(5).find(|noun| {
                noun.kind == Kind::Word && plural(&noun.word) && !within(TIME_NOUNS, &noun.word)
            });
            if let Some(noun) = noun
                && noun.word != "data"
                && (within(ITEMS, &noun.word)
                    || within(ITEMS, &singular(&noun.word))
                    || token.is("all"))
            {
                return Some(format!("{} {}", token.word, noun.word));
            }
        }
    }
    None
}

/// "by the end of 2027", "some time in 2028".
fn year(tokens: &[&Token]) -> Option<String> {
    tokens.windows(2).find_map(|pair| match pair {
        [before, year]
            if before.among(&["in", "by", "of", "until", "before"])
                && year.kind == Kind::Number
                && year.text.len() == 4
                && year.text.starts_with("20")
                && year.text.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            Some(format!("{} {}", before.word, year.text))
        }
        _ => None,
    })
}

/// "into coarse parts", "in small steps": the way itself is wanted.
fn into_parts(tokens: &[&Token]) -> Option<String> {
    tokens.iter().enumerate().find_map(|(at, token)| {
        if !token.among(&["into", "in", "as", "of"]) {
            return None;
        }
        let part = tokens.iter().skip(at + 1).take(4).find(|part| {
            part.among(&[
                "parts",
                "pieces",
                "stages",
                "phases",
                "steps",
                "milestones",
                "chunks",
                "subtasks",
                "subgoals",
                "increments",
                "slices",
                "goals",
                "epics",
                "bets",
                "waves",
                "experiments",
            ])
        })?;
        Some(format!("{} {}", token.word, part.word))
    })
}

/// "in eighteen months", "within two years", "over six weeks": weeks and longer.
fn duration(tokens: &[&Token]) -> Option<String> {
    tokens.windows(2).enumerate().find_map(|(at, pair)| {
        let [number, unit] = pair else { return None };
        let counted = number.kind == Kind::Number
            || within(NUMBER_WORDS, &number.word)
            || number.among(&["few", "several", "many", "a", "next", "coming"]);
        let long = unit.among(&[
            "month", "months", "year", "years", "weeks", "quarters", "quarter", "semester",
            "decade",
        ]);
        let before = at
            .checked_sub(1)
            .and_then(|before| tokens.get(before))
            .or_else(|| at.checked_sub(2).and_then(|before| tokens.get(before)));
        let ahead = before.is_some_and(|before| {
            before.among(&[
                "in", "within", "over", "by", "have", "coming", "takes", "take", "about", "next",
                "for", "the", "of", "than", "under", "inside",
            ])
        });
        let past = tokens
            .get(at + 2)
            .is_some_and(|after| after.among(&["ago", "old"]))
            || before.is_some_and(|before| before.among(&["than", "last", "past", "for"]));
        (counted && long && ahead && !past).then(|| format!("{} {}", number.text, unit.word))
    })
}
