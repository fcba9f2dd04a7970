//! Classes of verbs, by base form. A verb may stand in several.

use super::words;

words! {
    /// Changing what exists.
    EDIT =
    "adjust alias align alphabetize alter amend annotate anonymize apply autoformat backfill backport \
     beef bind blacklist bold bound brighten bump bypass cap capitalize cast center change clamp clarify \
     clean cleanup collapse color combine comment compact compress condense configure consolidate correct \
     crank cut darken de-duplicate debounce declutter decouple decrease dedupe deduplicate default demote \
     deprecate deprioritize dial dim disable disentangle document double downcase downgrade edit \
     emphasize enable encode enlarge escape expand extend extract fill fix flatten flip format freeze \
     grow guard halve hardcode harden harmonize hide highlight hoist hotfix hyphenate improve increase \
     indent initialize inline insert invert italicize keep label lengthen lighten limit lint localize \
     loosen lower lowercase mark memoize minify modernize modify mute narrow negate nest normalize nudge \
     obfuscate optimize order override pad parallelize parameterize paraphrase patch pin point polish \
     prefix prevent quote raise ramp ratchet re-enable re-order rearrange rebind rebrand recolor \
     recompute reconcile rectify redact redirect reduce reenable refactor reformat refresh regenerate \
     reindent reinstate relabel relax relocalize remedy renumber reorder reorganize repair rephrase \
     replace repoint reposition rescale reset resize reskin resolve respell restrict restructure restyle \
     retag retarget rethrow retitle retry retune reuse reverse revise rewire reword rework rewrite round \
     sanitize sentence-case set sharpen shorten shrink shuffle sign silence simplify skip slim smooth \
     soften sort speed spellcheck stabilize stamp standardize streamline strengthen stretch style \
     substitute suffix suppress swap switch sync tag throttle tidy tighten title-case toggle tone touch \
     translate treat trim tune turn tweak typecheck unbold underline undo unescape unhide unify unpin \
     unquote untangle unwrap update uppercase widen wrap"
}

words! {
    /// Making what does not exist.
    BUILD =
    "accept add allow animate append assemble attach author autocomplete autogenerate bootstrap build \
     code compose construct containerize craft create deliver develop dockerize embed enable equip \
     establish expose extend fabricate forge furnish generate give hook implement include incorporate \
     inject instrument integrate internationalize introduce invent kickstart launch let manufacture offer \
     paginate parallelize permit plug prepend produce program prototype provide publish scaffold ship \
     stub supply support surface teach wire write"
}

words! {
    /// Taking away.
    REMOVE =
    "axe clear cut deactivate decommission delete discard dismantle dispose ditch drop eliminate empty \
     erase evict excise exclude expunge kill nuke omit prune purge remove retire revoke rm scrap scrub \
     shed strip trash uninstall unlink unpublish unregister unset unship wipe withdraw yank"
}

words! {
    /// Changing place or name.
    MOVE =
    "archive bundle carve cherry-pick clone copy duplicate hoist merge migrate move mv promote put \
     reassign rebase rehome relocate rename shift split squash transfer transpose unbundle"
}

words! {
    /// Looking for a cause.
    INVESTIGATE =
    "analyze bisect chase debug determine diagnose dig discover explore figure hunt identify investigate \
     isolate pinpoint probe profile repro reproduce root-cause rootcause sleuth trace track triage \
     troubleshoot uncover unearth"
}

words! {
    /// Showing that something is so.
    VERIFY =
    "assert attest certify check confirm cross-check demo demonstrate double-check doublecheck ensure \
     exercise prove qa recheck replicate reproduce sanity-check simulate smoke-test smoketest \
     substantiate try validate verify witness"
}

words! {
    /// Judging what exists.
    REVIEW =
    "appraise assess audit code-review critique evaluate examine grade inspect judge peer-review \
     proofread rate reassess review scrutinize skim vet"
}

words! {
    /// Working something out on paper.
    DESIGN =
    "architect argue brainstorm choose compare conceive conceptualize consider contrast debate decide \
     deliberate design devise discuss draft envision formulate ideate model outline pick propose reason \
     recommend research rethink rfc settle sketch spec specify strategize suggest think weigh weight-up"
}

words! {
    /// Putting in order what is to be done.
    PLAN =
    "chart chop chunk decompose dismantle dissect map organize partition phase plan prioritize roadmap \
     schedule scope sequence slice stage subdivide untangle"
}

words! {
    /// Writing tests.
    TEST =
    "cover tdd test test-drive testdrive unit-test"
}

words! {
    /// Exchanging one technology for another.
    MIGRATE =
    "adopt convert migrate modernize port replatform transition transpile upgrade"
}

words! {
    /// Running something, with effects.
    RUN =
    "abort activate backup boot call checkout cherry-pick commit compile deploy download email enqueue \
     exec execute export fetch fire flash flush host import install invoke launch mail merge message \
     notify page ping post provision publish pull push rebase reboot rebuild register reinstall release \
     reload replay rerun restart restore resume revert roll rollback rotate run seed send serve shutdown \
     spawn start stash submit subscribe sync tag trigger unsubscribe upload use"
}

words! {
    /// Reading or finding.
    READ =
    "browse count display dump enumerate find glance grep list locate look lookup monitor observe open \
     peek print query read scan search see show view watch"
}

words! {
    /// Telling or explaining.
    TELL =
    "answer brief clarify contrast define demystify describe detail educate elaborate elucidate enlighten \
     enumerate explain illustrate inform list name outline quote recap recite remind report say show \
     spell state summarize tell tldr"
}

words! {
    /// Misbehaving.
    FAIL =
    "abort bail balk balloon barf bomb bork break bug choke clobber collide complain conflict corrupt \
     crash deadlock desync die disappear disconnect double-charge double-count double-fire drift err \
     error error-out explode fail flake flicker forget freeze garble glitch hang ignore jam jitter lag \
     leak lock loop lose malfunction mangle mis-sort misbehave miscalculate miscount misfire mismatch \
     misrender misreport miss mistime oom overflow overlap overshoot overwrite panic refuse regress \
     reject segfault shadow skip spike spin stall starve stick stutter swallow thrash throw time-out \
     timeout truncate underflow vanish wedge wobble"
}

words! {
    /// Verbs of doing that say nothing of the kind of work.
    DO =
    "accept act be become begin bring carry come continue cope deal do end finish get go handle happen \
     have help hold keep last leave let make mean need proceed put receive remain respond return stay \
     stop survive take wait want work"
}
