[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "Vdb+PBlmYNJM/rHDZZqCQQHxMQ8Pbz5gBtXiPz6sqTOKfFmeu5U5CQooZeADZagEiAPxxPUM38hHzwdMmMX0Ag=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "ZKzvxIv2dMdQh7bHE+qWM+pAlrRmYfez1QTGat8KcMPgaOuJ1ETNATF0jM8u3r4Cu+CZ5w2gSpdo5LGqrbJYCQ=="
  }
]
