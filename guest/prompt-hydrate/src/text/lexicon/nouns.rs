//! Classes of nouns and adjectives.

use super::words;

words! {
    /// Base forms that are as often nouns.
    NOUN_VERBS =
    "abort alias archive audit backup bug build cache call cap change chart check clean clear clone code \
     color command comment commit compile conflict copy correct cover crash cut debug default demo deploy \
     design document double download draft dump email empty end error error-out exercise export fix flag \
     format freeze function glitch group guard hang help hook host import index input install issue judge \
     label lag leak limit link lint list lock log look loop lower mail map mark match merge message model \
     mount move mute name narrow need notice number open order outline output overflow override pad page \
     panic parse patch phase pin ping plan plug point port position post prefix print process profile \
     program prompt prototype prune pull push qa query quote range rate rebase record redirect refactor \
     refresh release reload report request research reset restart result return revert review rewrite \
     roadmap rollback round route run sample scale scan schedule scope score script search secure seed \
     set shadow share shift ship show shuffle sign sketch skip slice slim smooth snapshot sort spec spike \
     spin split squash stage stall stamp start state stop store style submit suffix supply support \
     surface switch sync table tag test throw time timeout toggle trace track transfer transition trigger \
     trim try tune turn type update upgrade upload use value view watch weight wipe work worker wrap \
     write yank"
}

words! {
    /// Things that are changed in one place: a value, a label, a line.
    SMALL =
    "abbreviation acronym alias align alignment anchor annotation apostrophe arg argument assertion \
     attribute author backoff badge banner border bracket breadcrumb bullet button byline cap \
     capitalization caption case casing ceiling changelog checkbox class-name codeowners color \
     color-scheme colour column-width comma comment comments condition config-key constant copyright \
     cutoff dash date default defaults delimiter description dimension docblock docs-link docstring \
     docstrings email-address emoji entry enum-value env-var expiry favicon flag font font-size footer \
     footnote format gap gitignore glyph grammar gray grey header heading height help-text helptext hint \
     hostname hyphen icon import imports indent indentation interval keyword label labels letter licence \
     license limit line link literal log-level logo magic-number margin max maximum menu-item message \
     message-text min minimum misspelling name naming newline note notice number off-by-one offset \
     opacity operand option order ordering padding param parameter parenthesis percentage period phrase \
     phrasing placeholder plural poll-interval port prefix print priority property punctuation quota \
     quote radius ratio readme regex retries retry retry-count row semicolon sentence separator setting \
     shade shebang shortcut sidebar-title signature size slogan snippet space spacing spelling statusbar \
     stopword string strings subject subtitle suffix symbol tab tag tagline text threshold timeout \
     timeouts timestamp-format title toggle tolerance tooltip tooltip-text ttl type-hint typehint typo \
     typos unit url username value var variable verbosity version weight whitespace width word wording \
     wordings"
}

words! {
    /// Things that come in numbers and are worked through one by one.
    ITEMS =
    "account accounts artifact artifacts asset assets attachment book bookmark bookmarks branch bucket \
     buckets card case cell certificate certificates chapter chart charts citation citations class client \
     clients column component config configs contact contract controller crate csv csvs customer \
     dashboard dataset datasets deck dependency device diagram directory doc dockerfile dockerfiles docs \
     document documents email emails endpoint endpoints entries entry episode essay example expense file \
     files fixture fixtures folder folders form function functions gem handler header helm-chart host \
     icon image images invoice invoices issue issues job jpeg json key label letter letters line link \
     locale log logo machine manifest manuscript map member message method methods migration migrations \
     model module modules note notebook notebooks notes order package packages page pages paper papers \
     pdf pdfs photo photos picture plugin png podcast poem policy post posts pr presentation product \
     profile project projects proposal prs query question readme readmes receipt recipe record recording \
     recordings records reference region repo report reports repos repositories repository resource \
     response route row rows sample scan schema screenshot screenshots script scripts secret section \
     sensor server service service-account services sheet site slide slides snippet song source \
     spreadsheet statement story stub stubs student students stylesheet submission submissions \
     subscription suite survey svg table tables tag task tasks template templates tenant test tests \
     thumbnail thumbnails ticket tickets tool tools track transcript transcripts translation translations \
     user users video videos view views volume wav website widget workflow xml yaml yml"
}

words! {
    /// Aims that are reached over many weeks.
    GOALS =
    "accreditation app-store bootcamp business career certification certified conference cooperative \
     curriculum dissertation documentary dream ecosystem epic exhibition fedramp festival franchise \
     funding gdpr-proof hipaa ipo iso27001 magazine marketplace monetize moonshot mvp nonprofit novel phd \
     profitability profitable retirement saas self-sufficient soc2 startup textbook thesis webinar"
}

words! {
    /// Names of faults.
    FAULTS =
    "anomaly breakage bug bugs corruption crash crasher crashes deadlock deadlocking deadlocks defect \
     defects downtime error errors exception exceptions failure failures fault faults flake flakes \
     flicker glitch glitches hang hangs hiccup incident issue issues lag leak leaks lockup misbehavior \
     mismatch misspelling nan npe nullpointer off-by-one oom outage outages overflow panic panics problem \
     problems quirk race races regression regressions segfault segfaults slowdown stacktrace stall \
     stutter symptom timeout timeouts traceback trouble typo typos underflow warning warnings"
}

words! {
    /// Words for something that is not as it ought to be.
    FAULTY =
    "absent awry bad blank blurry borked botched broken buggy bust busted clobbered corrupt corrupted \
     crashed crashing crooked cut-off dead defective disconnected down duplicated erratic erroneous \
     failed failing faulty flaky frozen fubar garbage garbled glitchy hanging haywire hosed inaccurate \
     incomplete inconsistent incorrect incorrectly inexplicably intermittent intermittently invalid \
     jammed janky kaput laggy leaking lost malformed mangled messed misaligned misplaced missing \
     mysterious mysteriously negative nondeterministic odd oddly off orphaned outdated overlapping random \
     randomly scrambled screwed slow slowly sluggish sporadic sporadically stale strange strangely stuck \
     suddenly truncated twice unable unavailable undefined unexpected unexpectedly unhealthy unreachable \
     unreadable unreliable unresponsive unstable unstyled unusable wedged weird weirdly wonky wrong \
     wrongly"
}
