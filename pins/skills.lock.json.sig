[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "k+tHsUFJjaiuyp8XCLkm6p4DXA6yWwZOKdRKV4Qauxj+7Htwwn/KrJrW8mpDJ2cI+/BedUhAU+7GgZNSJ5OHAQ=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "25XtdIYcjyi5wS/CpJpZrxXUbJt13aXDLOHUhGYXBc3oKfufSuYueTxW4uQieCH1iNOrzaq2YWrQ3rXKxpkcDQ=="
  }
]
