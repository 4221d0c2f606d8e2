/*
 * A library with the names of CPython's evaluation loop, stripped as Debian
 * strips CPython: the loop's unlikely part lies apart and has lost its name.
 * A neighbour that the loop calls last must not be taken for a part of it.
 */
int _PyRuntime; // NOLINT: the name is the point
int add_samples(int a, int b);

int add_samples(int a, int b)
{
	return a + b;
}

#if defined(__x86_64__)
__asm__(".text\n"
	".globl _PyEval_EvalFrameDefault\n"
	".type _PyEval_EvalFrameDefault, @function\n"
	"_PyEval_EvalFrameDefault:\n"
	".cfi_startproc\n"
	"	push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	"	test %edi, %edi\n"
	"	{disp32} js loop_cold\n"
	"loop_body:\n"
	"	lea 1(%rdi), %eax\n"
	"	pop %rbp\n"
	".cfi_def_cfa_offset 8\n"
	"	cmp $1000, %eax\n"
	"	{disp32} je neighbour\n"
	"	ret\n"
	".cfi_endproc\n"
	".size _PyEval_EvalFrameDefault, . - _PyEval_EvalFrameDefault\n"
	".type neighbour, @function\n"
	"neighbour:\n"
	".cfi_startproc\n"
	"	xor %eax, %eax\n"
	"	.fill 32, 1, 0x90\n"
	"	{disp32} jmp _PyEval_EvalFrameDefault_local\n" /* a tail call to the start of the loop */
	".cfi_endproc\n"
	".size neighbour, . - neighbour\n"
	".set _PyEval_EvalFrameDefault_local, _PyEval_EvalFrameDefault\n"
	".section .text.unlikely, \"ax\", @progbits\n"
	".type loop_cold, @function\n"
	"loop_cold:\n"
	".cfi_startproc\n"
	".cfi_def_cfa_offset 16\n"
	"	neg %edi\n"
	"	{disp32} jmp loop_body\n"
	".cfi_endproc\n"
	".size loop_cold, . - loop_cold\n"
	".text\n");
#endif
