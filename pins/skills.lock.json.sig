[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "naxCVCeeljOkKgsY5nvHXzct0kopozRGQztiKFxj7NaRYpQPsKm1xwIE3wLfYV0y/AKcIMI5kM6kk84l70G0Bw=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "pHHa9U8pBhogHKVzrGprpHP+VdUZ5+tz6zb7L0JE5Y06YoSGya5hvnvJuOkmMWbsl8eROF51Tdf1IlMMAP+yBA=="
  }
]
