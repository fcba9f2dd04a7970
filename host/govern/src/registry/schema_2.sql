-- K-382: steps of an onboarding whose call was made, or whose question was answered.
CREATE TABLE onboarding (
    skill TEXT NOT NULL,
    step TEXT NOT NULL,
    -- The digest of what was done: of the operation or the question, and of what is kept of the answer.
    subject TEXT NOT NULL,
    -- Whether nothing is left to verify.
    verified INTEGER NOT NULL,
    PRIMARY KEY (skill, step)
) STRICT, WITHOUT ROWID;
-- K-271: whoever looks for what is over reads nothing else.
CREATE INDEX approvals_expires ON approvals (status, expires_at);
CREATE INDEX approvals_valid ON approvals (status, valid_until);
