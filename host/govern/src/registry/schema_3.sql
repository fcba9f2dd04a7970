-- How many milliseconds the clock was behind the chain's time when a grant with a time limit was given: more than that later
-- means that the clock was set back since.
ALTER TABLE approvals ADD COLUMN clock_behind INTEGER NOT NULL DEFAULT 0;
