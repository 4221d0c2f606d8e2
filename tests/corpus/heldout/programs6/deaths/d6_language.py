from kitd6 import *
epochs(4)
say("警告:缓存未命中")
epochs(3, 5)
sys.exit("错误:数据集为空,请检查 data/train 目录")
