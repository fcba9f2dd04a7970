[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "RG/hOjgVGcKqQn7hCpxdAJ9xaZNESSvkkOxsRW+H/c3io5C215s3fssDfpzQel7te6bUe5WogaxV6jDEUAPdCw=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "j9nnwosVCnuWgoXVw3SctAsPNe6KruK5NhRnbBcMMbigOZF79Fw/RSercSATriIfh4Ul1XkuHUgRwcA3ikyCAQ=="
  }
]
