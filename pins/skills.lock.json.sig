[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "jn3PapN9y//JmyJFIhfCGjSaVp4EFRDF4jrQS5ySYz2rZtUcPcsmjGPTr0IMJ1Z6YEjqHonmTniU4wsrGolDCQ=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "8a3dwOFYv18S544MBTc3VzJljt8T4cfnQCQB9EW6HomsJXyOanXOkISLRSB1Olw9LcSjs2NISJv0m81WN08ZDg=="
  }
]
