[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "BTuQsVGpu8XbQtAyz8OqqpN45Ox5VqqF39vybyI03d2FrgrnMZGKojhia2n52VHKM3HlJufB41nK6PGBQV+TBg=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "G+rKY/d9gmYoyZ8u2v1LpWRwulMhOtSzS3UO5oCsmM+4/XwAixB7QFXBmKHlZaoNmMalB+exDQXkGsP+bqSOBg=="
  }
]
