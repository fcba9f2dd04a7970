[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "jV8LIjLhG2gD17KfttQbrXPyl63mQZUr7eOGlxjZ6TG72IfLd2ewROu/q2pbbHDQuf1O+T3xrlfUD3asb9WSCA=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "95MNm/VjVhXq6hpRiBzygDbiwWi80qTb/FoYcB0MymvfByJS8XiTiCWeeUd2hByMERd44xSjS3JCxumrWOYiBg=="
  }
]
