[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "h4JhqQXqohEiu/nIcH1JdUhGPCLOPFkl8OmfxGBD4n/djpKedlRBsQqN6yrmKJS3dGvxoIEMxbgIsAYBWQZIAA=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "RSaO5QFKkcm2fotqFEBAn8F8lr73Lf4NNk9FmQC5W+IjvsO+e6/JBOW3fQbA439nWroLWIGOEUVpE82XccuiCg=="
  }
]
