[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "HZWTzmSBrJPGtiiN04qNl0fIBaO/YYZAwyLyt2yu6G3eGxDMslqiYgN8PdfLTv0gXe6aBSQ2GzKHockxe8gQCw=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "0lYwLYG/+AmSNH/iwwnZ4DlVU5ZukxDD1ncBM6AnbJrVVqQIv4h+dMmswg2aO1vlO3uJO7ook6GyA+MZOmXECw=="
  }
]
