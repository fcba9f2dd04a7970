[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "55iNGWufqkOqj2eCCXoEIkIL4svue8NlmrJEafNCo5Zwcu8HiyIvrOLdOdokFywILbsb6gj2tBrP0PF2mlMnDQ=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "88rHBnylfbW9ORvSdeihSzlCrEmHuKdZGHUrCL2Ju7cGfmVRRb8mqU5bamIuBwTxDtUeFiCl1uY5EpJJGeDBDQ=="
  }
]
