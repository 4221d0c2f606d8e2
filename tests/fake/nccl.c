/* A libnccl.so.2 of which nothing is there but what it says of its version, where NCCL says it: among its constants. */
extern const char *fake_nccl_said(void);
const char *fake_nccl_said(void)
{
	return "NCCL version " FAKE_NCCL_VERSION "+cuda12.4";
}
extern const char *fake_nccl_says_of_others(void);
const char *fake_nccl_says_of_others(void)
{
	return "please use NCCL version 2.99.9 or higher";
}
