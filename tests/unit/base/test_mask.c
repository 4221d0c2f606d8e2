#include "testing.h"

#include "base/buf.h"
#include "base/mask/mask.h"

static void names_of_secrets_and_of_other_things(void **state)
{
	(void)state;
	static const char *const secret[] = {"PASSWORD",      "db_password",
					     "dbPassword",    "PGPASSWORD",
					     "MYSQL_PWD",     "HF_TOKEN",
					     "token",	      "hfToken",
					     "--api-key",     "AWS_SECRET_ACCESS_KEY",
					     "WANDB_API_KEY", "GOOGLE_CREDENTIALS",
					     "client_secret", "ssh_key",
					     "OPENAI_APIKEY", "mypassword",
					     "auth.token",    "credential",
					     "api_keys",      "passwords",
					     "pass",	      "db_pass",
					     "API_KEY_PROD",  "HF_TOKEN_1",
					     "password2",     "hftoken",
					     "ENCRYPTIONKEY", "db_pw"};
	static const char *const plain[] = {
		"",	     "-",	   "PWD",	 "OLDPWD",	"tokens",	 "max_tokens",	 "num_tokens",
		"tokenizer", "token_ids",  "pad_token",	 "eos_token",	"key",		 "sort_key",	 "keyboard",
		"monkey",    "public_key", "TOKEN_FILE", "secret_name", "PASSWORD_PATH", "query_key",	 "author",
		"compass",   "secretary",  "passed",	 "KeyError",	"sort_keys",	 "forward_pass", "missing_keys",
		"dict_keys", "one_pass",   "pwd",	 "auth",	"key_1",	 "token_file_2", "read_write"};
	for (size_t i = 0; i < ARRAY_SIZE(secret); i++)
		if (!mask_is_secret(span_of(secret[i])))
			fail_msg("'%s' is a secret", secret[i]);
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (mask_is_secret(span_of(plain[i])))
			fail_msg("'%s' is none", plain[i]);
}

static void texts(void **state)
{
	(void)state;
	static const struct {
		const char *from, *to;
	} table[] = {
		{"", ""},
		{"plain words, nothing else", "plain words, nothing else"},
		{"postgres://bob:hunter2@db:5432/x", "postgres://bob:***@db:5432/x"},
		{"https://0123456789abcdef0123@git.example/x", "https://***@git.example/x"},
		{"https://bob@git.example/x?a=b@c", "https://bob@git.example/x?a=b@c"},
		{"http://host/a:b@c", "http://host/a:b@c"},
		{"http://u:p@ss@h/", "http://u:***@h/"},
		/* cut off before the host */
		{"https://bob:hunter2", "https://bob:***"},
		{"see https://bob:hunter2. Its last", "see https://bob:***. Its last"},
		{"http://h:8080: refused", "http://h:8080: refused"},
		{"http://h:8080.", "http://h:8080."},
		{"https://h: no answer", "https://h: no answer"},
		{"tcp://*:*", "tcp://*:*"},
		{"f'tcp://{host}:{port}'", "f'tcp://{host}:{port}'"},
		{"tcp://$HOST:$PORT/x", "tcp://$HOST:$PORT/x"},
		{"tcp://[fe80::1]:80 tcp://fe80::1", "tcp://[fe80::1]:80 tcp://fe80::1"},
		{"http://host:port/path", "http://host:port/path"},
		{"DB_PASSWORD=hunter2 rest", "DB_PASSWORD=*** rest"},
		{"DB_PASSWORD=a", "DB_PASSWORD=*"},
		{"password = \"two words\" # x", "password = \"***\" # x"},
		{"connect(host='h', password='s3cret', port=1)", "connect(host='h', password='***', port=1)"},
		{"{'api_key': 'abc', 'n': 1}", "{'api_key': '***', 'n': 1}"},
		{"{\"token\":\"abc\",\"x\":\"y\"}", "{\"token\":\"***\",\"x\":\"y\"}"},
		{"{\\\"token\\\": \\\"abcd\\\"}", "{\\\"token\\\": \\\"***\\\"}"},
		{"token=50256 pad_token=<pad>", "token=50256 pad_token=<pad>"},
		{"token=None, key=x", "token=None, key=x"},
		{"Invalid token: unexpected end", "Invalid token: unexpected end"},
		{"KeyError: 'token'", "KeyError: 'token'"},
		{"if password == other:", "if password == other:"},
		{"Authorization: Bearer abcdefgh.ijk", "Authorization: Bearer ***"},
		{"Bearer of news", "Bearer of news"},
		{"pushed hf_abcdefghijklmnopqrst now", "pushed hf_*** now"},
		{"half_abcdefghijklmnopqrstuvw", "half_abcdefghijklmnopqrstuvw"},
		{"sk-learn is fine", "sk-learn is fine"},
		{"b'x' secret=b'bytes' u", "b'x' secret=b'***' u"},
		{"password=", "password="},
		{"password='", "password='"},
		{"x?token=abcdef&y=1", "x?token=***&y=1"},
		{"https://h/x?access_token=abcdef", "https://h/x?access_token=***"},
		{"loss=0.5 step=7 lr=1e-4", "loss=0.5 step=7 lr=1e-4"},
		{"exec t --token abcd --x", "exec t --token *** --x"},
		{"exec t --api-key  a1b2", "exec t --api-key  ***"},
		{"t --token --x, --max-token abc", "t --token --x, --max-token abc"},
		{"['--password', 'x1y2', 3]", "['--password', '***', 3]"},
		{"curl -H X-Api-Key: abcd http://h/", "curl -H X-Api-Key: *** http://h/"},
		{"login failed, password: hunter2 (x)", "login failed, password: *** (x)"},
		{"token: a1b2c3d4e5", "token: ***"},
		{"First pass: begins", "First pass: begins"},
		{"postgres://bob:hun/ter2@db:5432/x", "postgres://bob:***@db:5432/x"},
		{"http://h:8080/a@b", "http://h:8080/a@b"},
		{"password=12345678, token=12345678", "password=***, token=12345678"},
		{"{'pass': 'abcd'}", "{'pass': '***'}"},
		{"{\"passwords\": [\"ab]c\", \"d\"], \"x\": 1}", "{\"passwords\": [***], \"x\": 1}"},
		{"{\"api_keys\": {\"a\": \"b\"}}", "{\"api_keys\": {***}}"},
		{"token=[1, 2], next", "token=[1, 2], next"},
		{"{\"name\": \"DB_PASSWORD\", \"value\": \"abcd\"}", "{\"name\": \"DB_PASSWORD\", \"value\": \"***\"}"},
		{"{\"password\":\n \"abcd\"}", "{\"password\":\n \"***\"}"},
		{"password='ab\ncd' e", "password='***' e"},
		{"password='''abcd''' e", "password='''***''' e"},
		{"PASSWORD=\"ab\"cd e", "PASSWORD=\"**\"** e"},
		{"password=ab,cd e", "password=*** e"},
		{"f(password=ab,port=1)", "f(password=**,port=1)"},
		{"password := \"abcd\"", "password := \"***\""},
		{"curl -u bob:abcd http://h/", "curl -u bob:*** http://h/"},
		{"docker run -u 1000:1000 x", "docker run -u 1000:1000 x"},
		{"sshpass -p abcd ssh h", "sshpass -p *** ssh h"},
		{"sudo mysql -pabcd db; nice -p x", "sudo mysql -p*** db; nice -p x"},
		{"docker run -p 80:80 x", "docker run -p 80:80 x"},
		{"-H 'Authorization: Digest r=\"ab\", n=1' x", "-H 'Authorization: Digest ***' x"},
		{"Authorization: token abcdefgh x", "Authorization: token *** x"},
		{"Authorization: denied", "Authorization: denied"},
		{"Cookie: a=bcd; e=fgh then", "Cookie: *** then"},
		{"https://h/x?sig=a1b2c3d4&key=word", "https://h/x?sig=***&key=word"},
		{"https://hooks.slack.com/services/T0/B0/abcdefghijkl", "https://hooks.slack.com/services/***"},
		{"x -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----",
		 "x -----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----"},
		{"https://0123456789abcdef0123:x@h/", "https://***:*@h/"},
		{"postgres://bob:a#bc@h/x", "postgres://bob:***@h/x"},
		{"nvapi-abcdefghijklmnopqrst", "nvapi-***"},
		{"pwd=a1b2c3d4", "pwd=***"},
		{"PWD=/home/x pwd: /x", "PWD=/home/x pwd: /x"},
		{"auth=('bob', 'abc')", "auth=(***)"},
		{"auth=basic", "auth=basic"},
		{"api key: a1b2c3d4", "api key: ***"},
		{"Invalid access token: expired", "Invalid access token: expired"},
		{"\033[1mhf_abcdefghijklmnopqrst\033[0m", "\033[1mhf_***\033[0m"},
		{"\033[1mpassword\033[0m=\033[31mabcd\033[0m x", "\033[1mpassword\033[0m=\033[31m*** x"},
		{"password: \033[31mabcd x\033[", "password: \033[31m*** x\033["},
		{"os.environ['HF_TOKEN'] = 'abcd'", "os.environ['HF_TOKEN'] = '***'"},
		{"if d[\"password\"] == x", "if d[\"password\"] == x"},
		{"[('HF_TOKEN', 'abcd'), ('A', 'b')]", "[('HF_TOKEN', '***'), ('A', 'b')]"},
		{"setattr(o, \"password\", \"abcd\")", "setattr(o, \"password\", \"***\")"},
		{"['user', 'password', 'email']", "['user', 'password', 'email']"},
		{"key MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9Oi8IyZc1Xa4 x", "key *** x"},
		{"/Data/Sets/Images2/TrainSplit/Part01/Shard17/Batch3/x",
		 "/Data/Sets/Images2/TrainSplit/Part01/Shard17/Batch3/x"},
		{"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c",
		 "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c"},
		{"ZNSt6vectorIN3c1010intrusiveINS010TensorImplENS019Undefi",
		 "ZNSt6vectorIN3c1010intrusiveINS010TensorImplENS019Undefi"},
		{"BEARER a1b2c3d4e5 basic training", "BEARER *** basic training"},
		{"u=http%3A%2F%2Fh%3Ftoken%3Dabcdef", "u=http%3A%2F%2Fh%3Ftoken%3D***"},
		{"100%, 50%d, password%", "100%, 50%d, password%"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		char text[128];
		TEXT_COPY(text, table[i].from);
		mask_text(text);
		assert_string_equal(text, table[i].to);
		mask_text(text); /* masked once, it stays */
		assert_string_equal(text, table[i].to);
	}
}

static void names_of_processes(void **state)
{
	(void)state;
	static const char *const table[][2] = {{"pw=a1b2c3d4e5f", "pw=***"},   {"password: abcd", "password: ***"},
					       {"python3", "python3"},	       {"ray::f()", "ray::f()"},
					       {"kworker/0:1", "kworker/0:1"}, {"", ""}};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		char text[16];
		TEXT_COPY(text, table[i][0]);
		mask_name(text);
		assert_string_equal(text, table[i][1]);
	}
}

static void keys_of_several_lines(void **state)
{
	(void)state;
	static const char begin[] = "x -----BEGIN RSA PRIVATE KEY-----", end[] = "-----END RSA PRIVATE KEY----- y";
	assert_true(mask_key_begun(span_of(begin), false));
	assert_true(mask_key_begun(span_of("MIIEabcd"), true));
	assert_false(mask_key_begun(span_of("MIIEabcd"), false));
	assert_false(mask_key_begun(span_of(end), true));
	assert_false(mask_key_begun(span_of("-----BEGIN CERTIFICATE-----"), false));
	assert_false(mask_key_begun(span_of("-----BEGIN PRIVATE KEY-----\nA\n-----END PRIVATE KEY-----"), false));
	assert_true(mask_key_begun(span_of("----------BEGIN PRIVATE KEY-----"), false));
	assert_false(mask_key_begun(span_of("-----"), false));
	assert_false(mask_key_begun(span_of(""), false));
}

#define ARGS(from, to)                                                                                                 \
	{                                                                                                              \
		(from), sizeof(from), (to), sizeof(to)                                                                 \
	}

static void arguments(void **state)
{
	(void)state;
	static const struct {
		const char *from;
		size_t from_len;
		const char *to;
		size_t to_len;
	} table[] = {
		ARGS("python3\0t.py\0--lr\0"
		     "0.1",
		     "python3\0t.py\0--lr\0"
		     "0.1"),
		ARGS("t\0--password\0two words\0--x", "t\0--password\0***\0--x"),
		ARGS("t\0--password=two words\0--x", "t\0--password=***\0--x"),
		ARGS("t\0--api-key\0k\0end", "t\0--api-key\0*\0end"),
		ARGS("t\0--use-token\0--verbose\0v", "t\0--use-token\0--verbose\0v"),
		ARGS("t\0db.password=x1y2\0v", "t\0db.password=***\0v"),
		ARGS("env\0HF_TOKEN=abcd\0python", "env\0HF_TOKEN=***\0python"),
		ARGS("git\0clone\0https://u:pw@h/x", "git\0clone\0https://u:**@h/x"),
		ARGS("curl\0-H\0Authorization: Bearer abcdefghij", "curl\0-H\0Authorization: Bearer ***"),
		ARGS("t\0--max-tokens\0"
		     "512",
		     "t\0--max-tokens\0"
		     "512"),
		ARGS("t\0--token", "t\0--token"),
		ARGS("t\0--password\0-abcd\0--x", "t\0--password\0***\0--x"),
		ARGS("sh\0-c\0t --token abcd; u", "sh\0-c\0t --token ***; u"),
		ARGS("sudo\0/bin/mysql\0-pabcd\0x", "sudo\0/bin/mysql\0-p***\0x"),
		ARGS("docker\0login\0-p\0abcd\0h", "docker\0login\0-p\0***\0h"),
		ARGS("ssh\0-p\0"
		     "2222\0h",
		     "ssh\0-p\0"
		     "2222\0h"),
		ARGS("curl\0-u\0bob:abcd\0h", "curl\0-u\0bob:***\0h"),
		ARGS("t\0--conf\0{\"password\":[\"abcd\"]}", "t\0--conf\0{\"password\":[***]}"),
		ARGS("", ""),
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		char text[128];
		memcpy(text, table[i].from, table[i].from_len);
		size_t n = mask_args(text, table[i].from_len);
		assert_int_equal(n, table[i].to_len);
		assert_memory_equal(text, table[i].to, n);
	}
}

static void values_of_variables(void **state)
{
	(void)state;
	static const struct {
		const char *name, *from, *to;
	} table[] = {
		{"password", "'hunter2'", "'***'"},
		{"password", "'it\\'s'", "'***'"},
		{"password", "'cut off…", "'***"},
		{"token", "b'abc'", "b'***'"},
		{"token", "50256", "50256"},
		{"api_key", "<Tensor 0x7f00>", "<Tensor 0x7f00>"},
		{"pad_token", "'<pad>'", "'<pad>'"},
		{"config", "{'password': 'abc', 'lr': 0.1}", "{'password': '***', 'lr': 0.1}"},
		{"url", "'redis://:pw@h:1/0'", "'redis://:**@h:1/0'"},
		{"secret", "None", "None"},
		{"secret", "12345678", "***"},
		{"passwords", "['a', 'bcd']", "['***']"},
		{"api_keys", "['abcd']", "['***']"},
		{"argv", "['t', '--password', 'abcd']", "['t', '--password', '***']"},
		{"secret", "''", "''"},
		{"secret", "Secret('abcd')", "Secret('***')"},
		{"pwd", "'/home/x'", "'/home/x'"},
		{"pwd", "'abcd'", "'***'"},
		{"auth", "('bob', 'abcd')", "(***)"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		char text[128];
		TEXT_COPY(text, table[i].from);
		mask_value(table[i].name, text);
		assert_string_equal(text, table[i].to);
	}
}

/* What a program made so that each search goes to the text's end: hours, if it does. */
static void brackets_and_quotes_that_nobody_closes(void **state)
{
	static const char *const line[] = {"api_key=[\"\n", "secrets=[(\n", "password=\"'\\\n", "auth=({\n"};
	const size_t lines = 100000;
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(line); i++) {
		const size_t n = strlen(line[i]);
		char *text = malloc(lines * n + 32);
		assert_non_null(text);
		for (size_t k = 0; k < lines; k++)
			memcpy(text + k * n, line[i], n);
		memcpy(text + lines * n, "\npassword=hunter2", sizeof("\npassword=hunter2"));
		mask_text(text);
		assert_null(strstr(text, "hunter2"));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_secrets_and_of_other_things),
		cmocka_unit_test(texts),
		cmocka_unit_test(names_of_processes),
		cmocka_unit_test(keys_of_several_lines),
		cmocka_unit_test(arguments),
		cmocka_unit_test(values_of_variables),
		cmocka_unit_test(brackets_and_quotes_that_nobody_closes),
	};
	return cmocka_run_group_tests_name("base/mask", tests, NULL, NULL);
}
