[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "gk7996YBAHjE2o9+r+/rULullPtTP7ZJuanexFCp+I4wt8V2Zkx5lzQ72NAUMfN6gnRmxJPiD/GjwQCsYsQ+DQ=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "IsWQMelT3+Ix08PGHuJIuX5QCPfWylrNJf4N5N0l/RFSGqBDypMRmCTnrEJ/GWrA6ptyftUs98t3byPyjw+iBQ=="
  }
]
