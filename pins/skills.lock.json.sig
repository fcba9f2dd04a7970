[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "qI9qWzx6tVOcB/KPXTnjBman2uJTDmcBaSAKEVbzAxf3d40RUZkPZhDX4qQo6zkyZPG8OhHyAOXmhJTJbdRSDw=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "EWdh7d4X81Y2TVWWuGKoO0GvjkzSZMoTLiZBxhO6WC2UfpoCBrIvkkmWHfNTW41tLpTP1q8xWIhCMEqYcq1cCA=="
  }
]
