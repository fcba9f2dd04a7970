[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "vr/HhPqIh9uY13W/AOhrMOHHTuwXkUyEiH1pqv2RJ5IqZkguSTPLPK7LSolX2QvySJimGJSztyCgwjf4cRlxAg=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "5yISRXW/5MNP/ulLgnI75p9LHyBSF90SjBqp7IBGGtFK24VAfWJUT9G30waML2LRl4UvYcdG664O4xaPEcB/CA=="
  }
]
