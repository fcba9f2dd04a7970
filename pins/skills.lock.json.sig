[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "vdFGyfx7Aokb0Zz/5MimTCaj4mCnRX7E5ozhK4bduXHWqqcdvlxD1LHbGKkwP9V2HTRS6/IFgoFsPla3dBWfDg=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "gnJPRlmN6DJZxL2kHvOoo+dLVFdv3Bl1ckM0PU9DtTyaaXson0ecnSsC7hicWrHBFh0sPDRMH7q/N9FZyzhxAw=="
  }
]
