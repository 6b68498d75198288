print("ot-bench")
