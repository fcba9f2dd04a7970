-- The first shape of the registry. Times are milliseconds since 1970; `folded` names are those of K-10; JSON stands in
-- columns called `body`, `manifest`, `files` and `details`.

CREATE TABLE registry (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    -- K-375
    generation INTEGER NOT NULL,
    -- History is whole after this generation.
    kept_from INTEGER NOT NULL
) STRICT;
INSERT INTO registry VALUES (1, 0, 0);

CREATE TABLE skills (
    folded TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    -- K-61: the source identity.
    source TEXT NOT NULL,
    digest TEXT NOT NULL,
    generation INTEGER NOT NULL,
    document BLOB NOT NULL,
    -- K-16: what the document says to an agent; long, and no call needs it.
    instructions TEXT NOT NULL,
    -- The skill without its operations and instructions.
    body TEXT NOT NULL,
    -- K-178: name of a code file to its digest.
    files TEXT NOT NULL
) STRICT;

CREATE TABLE operations (
    -- Folded capability id.
    capability TEXT PRIMARY KEY,
    skill TEXT NOT NULL REFERENCES skills (folded) ON DELETE CASCADE,
    folded TEXT NOT NULL,
    -- In the order of the document.
    position INTEGER NOT NULL,
    -- As written: the capability id.
    id TEXT NOT NULL,
    op_digest TEXT NOT NULL,
    policy_digest TEXT NOT NULL,
    tier INTEGER NOT NULL CHECK (tier BETWEEN 0 AND 3),
    body TEXT NOT NULL,
    manifest TEXT,
    UNIQUE (skill, folded)
) STRICT;

CREATE TABLE aliases (
    capability TEXT PRIMARY KEY,
    skill TEXT NOT NULL,
    folded TEXT NOT NULL,
    operation TEXT NOT NULL REFERENCES operations (capability) ON DELETE CASCADE,
    UNIQUE (skill, folded)
) STRICT;

-- Known from history but not there any more (K-295).
CREATE TABLE removed (
    capability TEXT PRIMARY KEY,
    skill TEXT NOT NULL,
    folded TEXT NOT NULL,
    generation INTEGER NOT NULL
) STRICT;
CREATE INDEX removed_skill ON removed (skill, folded);
CREATE INDEX removed_generation ON removed (generation);

CREATE TABLE history (
    generation INTEGER NOT NULL,
    capability TEXT NOT NULL,
    id TEXT NOT NULL,
    change TEXT NOT NULL CHECK (change IN ('added', 'changed', 'removed')),
    PRIMARY KEY (generation, capability)
) STRICT, WITHOUT ROWID;

CREATE TABLE code_files (
    digest TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;

CREATE TABLE approvals (
    -- The order in which they were opened.
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    -- What it is about: the folded capability id; `host:port`; session and dimension; skill and name.
    subject TEXT NOT NULL,
    skill TEXT,
    source TEXT NOT NULL,
    op_digest TEXT NOT NULL,
    policy_digest TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- What else K-266 lists of the request.
    body TEXT NOT NULL,
    -- The denied request after which an agent asked again (K-269).
    reopens TEXT,
    -- What may still change.
    status TEXT NOT NULL,
    session TEXT,
    decided_by TEXT,
    reason TEXT,
    decided_at INTEGER,
    scope TEXT,
    valid_until INTEGER,
    response TEXT
) STRICT;
CREATE INDEX approvals_subject ON approvals (subject, kind, number);
CREATE INDEX approvals_open ON approvals (subject, kind) WHERE status IN ('pending', 'approved');
CREATE INDEX approvals_status ON approvals (status);
CREATE INDEX approvals_skill ON approvals (skill);

-- K-265: no other transition, and terminal states stay.
CREATE TRIGGER approvals_transition BEFORE UPDATE OF status ON approvals
WHEN NOT (
    NEW.status = OLD.status
    OR (OLD.status = 'pending' AND NEW.status IN ('approved', 'denied', 'expired', 'superseded'))
    OR (OLD.status = 'approved' AND NEW.status IN ('revoked', 'expired', 'superseded', 'consumed'))
)
BEGIN SELECT RAISE(ABORT, 'no such transition of an approval (K-265)'); END;
CREATE TRIGGER approvals_subject_stays
BEFORE UPDATE OF id, kind, subject, skill, source, op_digest, policy_digest, requested_at, expires_at, body ON approvals
BEGIN SELECT RAISE(ABORT, 'the subject of an approval stays'); END;
-- What an operator decided stays; of what nobody decided the newest do.
CREATE TRIGGER approvals_stay BEFORE DELETE ON approvals
WHEN NOT (OLD.status IN ('superseded', 'expired') AND coalesce(OLD.decided_by, 'policy') = 'policy')
BEGIN SELECT RAISE(ABORT, 'approvals stay'); END;
CREATE TRIGGER approvals_begin BEFORE INSERT ON approvals
WHEN NEW.status <> 'pending'
BEGIN SELECT RAISE(ABORT, 'an approval begins as a request'); END;

-- K-279: who may use which stored value where. Values are in the store of secrets, never here.
CREATE TABLE bindings (
    skill TEXT NOT NULL,
    expected TEXT NOT NULL,
    host TEXT NOT NULL,
    stored TEXT NOT NULL,
    -- `skill`, `global` or `environment`.
    store TEXT NOT NULL CHECK (store IN ('skill', 'global', 'environment')),
    -- The grant that made it (K-275); empty: `secrets bind`.
    approval TEXT NOT NULL,
    -- The source identity it holds for; empty: whichever is loaded first under this id.
    source TEXT NOT NULL,
    PRIMARY KEY (skill, expected, host, approval)
) STRICT, WITHOUT ROWID;
CREATE INDEX bindings_approval ON bindings (approval);

-- K-24
CREATE TABLE unmapped (
    tool TEXT PRIMARY KEY,
    met INTEGER NOT NULL
) STRICT;

-- K-377: budgets of open sessions.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    used_at INTEGER NOT NULL,
    budget TEXT NOT NULL
) STRICT;

-- K-291: what grants of kind `budget` added.
CREATE TABLE extensions (
    approval TEXT PRIMARY KEY REFERENCES approvals (id),
    session TEXT NOT NULL,
    dimension TEXT NOT NULL,
    amount INTEGER NOT NULL
) STRICT;
CREATE INDEX extensions_session ON extensions (session);

-- K-385
CREATE TABLE memory (
    skill TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (skill, name)
) STRICT, WITHOUT ROWID;
