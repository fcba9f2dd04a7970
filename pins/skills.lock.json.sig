[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "p9AD3Di1T82T1jflEFrefkgplfY39+8CLZZJJBmw8XN4XizjU5q1TKYr7yHKw/rXJzKQGJf812a+qa3yaNj1DQ=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "9wR56c5PjGKF4FgVNLd7gbvT7n4ZH06r4xJ4JGvPUou8QfGGxj96XxbF0ml9NbkIUW7i9A6QaMP+6Ivuf59rDA=="
  }
]
