[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "qmdhjJdSYBTIYHf3zcvz+HZTogJ3HM8iNVPXpwCKIOnTTnN7pnNZHIQhOnuxf2Ucn32Q5xk05OKczX0ZhnNUBw=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "NeQH+cpefqXEj2veSPjQFibe6XL5aCzYY7BiWaB6BUc25JYcSO9GuRSwGo9q5+T3WLDGJ6L8nsdMtptvT6acBw=="
  }
]
