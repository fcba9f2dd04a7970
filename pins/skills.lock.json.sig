[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "HKzJ0/wZBK+SS45BWWpuL+HztmRdSnsAY5vqMxOcNtsfLBqlmeYd5j/XsIRfTVUiij6nL+8VpoPNdHAx8sslCQ=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "6j1GKFE3BQEs2Xt1tEaDOMP86Y5HOE9C+AeI3oGFz/z/y88gAwsTGJHUP8/iq+gUb72I6Fko8hQief9N43NmDQ=="
  }
]
