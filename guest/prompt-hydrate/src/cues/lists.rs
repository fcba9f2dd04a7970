//! The words and phrases that the cues are made of: words in lists with blanks between them, phrases with `|`.

pub(super) const OPENERS: &str = "please|pls|plz|kindly|hey|hi|hello|ok|okay|so|well|alright|now|just|also|then|and|and then|but|or|next|first|\
    finally|maybe|perhaps|quickly|instead|actually|claude|can you|could you|would you|will you|can we|could we|would you mind|\
    do you mind|mind|i need you to|i want you to|id like you to|i would like you to|we need you to|we need to|i need to|i want to|\
    we want to|id like to|i would like to|we should|you should|we have to|we must|you must|lets|let us|go ahead and|go and|\
    try to|start by|be sure to|help me|help us|todo|your task|next task|the task|and also|time to|can u|could u|would u|gotta|need to|\
    want to|anyway|anyhow|either way|regardless|possibly|can someone|could someone|can somebody|could somebody|if so|if not|if yes|in that case|yes|yeah|no|nice|great|thanks|sorry|fyi|ugh|hm|hmm|oh";

/// Words of polite requests, before the verb.
pub(super) const POLITE: &str = "able about alright any anyway are ask asked be bit can chance consider could do fine for get good happy hoping how i if is it kind \
    might much not of ok okay possible possibly please say there that think to too trouble was way we were what why willing wondering \
    would you";
/// Phrases of which a polite request has one.
pub(super) const ASKS_TO_ACT: &str =
    "you|chance|would it be|it would be|how about|what about|why not";

/// Words before "it" that are no verbs and not without content.
pub(super) const LINKS: &str =
    "after although because before hope since though unless whether without";

/// Verbs of making, changing or taking away, in the form of an order.
pub(super) const CHANGES: &str = "add adjust align allow amend anonymize append apply archive automate backfill backport batch bring build bump \
    cap catch change clean collapse combine configure convert copy correct create cut debounce decouple decrease deduplicate \
    dedupe delete deploy deprecate disable document drop duplicate edit eliminate enable encrypt enforce exclude expand expose \
    extend extract factor fix format generate get give group hide hook implement import improve include increase inline insert \
    install integrate introduce kill limit link localize lower make merge migrate mock modernize modify move nuke optimize \
    package paginate parallelize patch pin polish port prepend prevent promote prune publish purge put raise rearrange rebase \
    rebuild redesign reduce refactor reformat regenerate register reintroduce relocate remove rename reorder reorganize repair \
    replace reset resize resolve restore restructure retire revert reword rewire rewrite rip rotate round sanitize scaffold set \
    sharpen shorten shrink silence simplify sort speed split squash stamp stop store streamline strip style support suppress swap \
    switch synchronize sync tag teach throttle tighten tidy toggle translate trim truncate turn tweak unify uninstall unpin \
    untangle update upgrade vendor whitelist widen wire wrap write zip apply normalise normalize optimise reorganise";
/// Verbs of correcting a fault.
pub(super) const REPAIRS: &str = "catch correct fix patch repair resolve";
/// Verbs of other orders.
pub(super) const OTHER_ORDERS: &str = "analyze answer ask assess check compare confirm cover debug demonstrate design diagnose ensure evaluate explain \
    find figure inspect investigate keep list look measure plan prove read report reproduce rerun review run search show test \
    trace track use validate verify";
/// Phrases that ask for a change wherever they are.
pub(super) const CHANGE_PHRASES: &str = "must i|do i need to change|do i have to change|get rid of|would it be possible to|instead of using";
/// How a wish for a thing begins.
pub(super) const WISHES: &str = "i want a|i want an|i want the|i need a|i need an|i need the|we need a|we need an|we need the|we want a|\
    we want the|id like a|id like an|id like the|id love a|i would like a|i would like the|it would be nice|it would be great|\
    would be nice|would be great|wish we|i wish";
/// What is wanted where a wish is for an answer in words.
pub(super) const TOLD: &str = "answer explanation hint idea know learn list overview recap summary tldr understand understanding";
pub(super) const ENSURES: &str =
    "make sure|make certain|be sure|ensure|guarantee|see to it|enforce";

/// Words that open a question.
pub const QUESTION_WORDS: &str =
    "how hows what whats when where wheres which who whos whom whose why whys";
/// Verbs that open a question.
pub(super) const AUXILIARIES: &str =
    "am are can could did do does had has have is may might shall should was were will would";
/// Verbs that want something told.
pub(super) const TELLING: &str = "clarify compare define describe elaborate enumerate explain list name outline quote recall recap recite \
    remind say show summarise summarize tell";
pub(super) const DETERMINERS: &str = "a all an another any both each every it its my one our some that the their them these this those your";

pub(super) const NO_CHANGES: &str = "do not edit|do not change anything|do not change any|do not change the code|do not modify|do not touch anything|\
    do not touch the code|do not touch any|do not write any code|do not write code|do not fix anything|do not fix it|do not fix them|\
    do not make any changes|do not make changes|do not alter|do not commit|do not implement|do not apply|no changes|no edits|\
    no code changes|no fixes|no fixing|no writes|without changing anything|without changing any|without changing the code|\
    without editing|without touching anything|without touching the code|without modifying|without making changes|\
    without making any changes|just look|only look|just looking|read only please|read-only please|hands off|\
    leave everything as it is|leave the code|change nothing|edit nothing|touch nothing|nothing should be changed|\
    nothing may change|not change anything|not touching anything|never edit|keep your hands off";

pub(super) const PLAN_FIRST: &str = "plan first|plan mode|plan-mode|planning mode|plan only|only a plan|just a plan|only plan|first a plan|\
    first plan|plan it first|plan this first|plan that first|plan it out first|start with a plan|start by planning|begin with a plan|\
    see a plan|see the plan|see your plan|approve the plan|approve a plan|approve your plan|approve the approach|approve it before|\
    approve before|sign off on|wait for my approval|wait for my ok|wait for my go|wait for approval|wait until i approve|\
    my approval before|until i approve|until i agree|until i have approved|until i have seen|until i have read|until i ok|\
    until i sign|before i approve|for my approval|do not code yet|do not implement yet|do not start yet|do not write code yet|\
    do not write any code yet|do not start coding|do not start implementing|do not touch anything yet|do not touch code yet|\
    do not touch any code yet|do not change anything yet|do not edit anything yet|no code yet|no coding yet|nothing yet|\
    before you start coding|propose a plan|draft a plan|outline your approach|\
    outline your plan|show me a plan|show me the plan|show me your plan|give me a plan|give me your plan|present a plan|\
    lay out a plan|come up with a plan|put together a plan|your approach before|your plan before|the plan before|a plan before|\
    plan for approval|your steps before|what you would change before|what you will do before|what you would do before|\
    run it by me|run it past me|run the plan by me|check with me before|ask me before|ask before you|confirm with me before";

pub(super) const CONTINUATIONS: &str = "also|too|instead|as well|while you are there|while you are at it|while youre at it|same for|same with|\
    same thing|do the same|again|another one|the other one|the rest|the others|next one|that one|this one|those|that|it|them|these|\
    keep going|carry on|continue|go on|what about|how about|after that|the same|as before|like before|the other|both|back to|\
    one more|one thing|more thing|option|the first|the second|the third|the latter|the former|rather";

pub(super) const CONFIRMATIONS: &str = "absolutely accept accepted affirmative agree agreed ahead all alright approve approved awesome aye bet \
    brilliant by carry certainly confirm confirmed continue cool correct course deal definitely do exactly excellent fine for go \
    good gotcha great happy indeed it k keep kk let lets lgtm like looks make makes me means merge more nice not now of ok okay okey \
    on perfect please proceed right roger ship so sounds super sure thanks that the thing this thx to totally true way why with works \
    y ya yea yeah yep yes you yup";
pub(super) const YES_WORDS: &str = "absolutely accept accepted affirmative agree agreed ahead alright approve approved awesome aye brilliant \
    carry certainly confirm confirmed continue cool correct definitely exactly excellent fine go good great indeed k kk lgtm makes \
    ok okay okey perfect proceed roger ship sounds sure totally works y ya yea yeah yep yes yup";
pub(super) const REFUSALS: &str = "abort about actually alone anymore as away back be bother cancel do drop enough for forget from hold i is it \
    just keep later leave lets mind moment nah naw nay need negative never nevermind no none nope not now nvm of off on please \
    rather reject scrap skip stop thank thanks that thats the them there this those today wait way we yet you fine";
pub(super) const NO_WORDS: &str = "abort cancel drop forget hold leave nah naw nay negative never nevermind no none nope not nvm reject scrap \
    skip stop wait";
pub(super) const CHOICES: &str = "1 2 3 4 5 a all alternative and approach b both bottom c choice d either first for former fourth go i id it \
    just last latter left lets middle neither number of one ones only option options or pick plan please prefer second take that \
    the them these third this those three top two use variant version with would";
pub(super) const CHOICE_WORDS: &str = "1 2 3 4 5 a all b both c d either first former fourth last latter middle neither option options second \
    third";

/// Words without content of their own.
pub(super) const STOP_WORDS: &str = "a about again all also am an and any anything are as at be been being bit both but by can could did do \
    does doing done down each either else ever everything few for from get give go got had has have having he hello help her here \
    hers hey hi him his how i id if im in into is it its itself just kindly lets like little look lot make maybe me more most my \
    myself need no nor not now of off ok okay on once one only or other our ours out over own perhaps please pls plz really same \
    shall she should so some something stuff such sure than thank thanks that thats the their them then there these they thing \
    things this those through to too try under until up us very want was way we were what whats when where which while who whom \
    whose why will with would you your yours check fix improve update change";
