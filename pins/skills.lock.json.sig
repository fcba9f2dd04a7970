[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "5uMt1wSxDSTWOv+pQdkmusGkWIpQsHvCDRmagyWl2l9s70/ekiE3fuZJQRZPwr4APsuupTcmipIoAyxEq/5KAw=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "asHtPQMC83ech4piyjwobiyH/lPQCTV4mcYijs41UCNxVohcf01lwu1pKZYkNgT1ArKYbML7G7A3ctdKc8qeAw=="
  }
]
