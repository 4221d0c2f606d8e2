#include "base/private.h"

#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"

static mode_t umask_before;
static bool umask_is_ours;

/* What is taken from what is there already: everything of others; for an ordinary user of the group too. */
static mode_t taken(void)
{
	return geteuid() == 0 ? 0007 : 0077;
}

mode_t private_file(void)
{
	return 0660 & ~taken() & ~0020U;
}

static mode_t folder_mode(void)
{
	return 0770 & ~taken() & ~0020U;
}

void private_umask(void)
{
	mode_t before = umask(taken() | 0020);
	if (!umask_is_ours)
		umask_before = before;
	umask_is_ours = true;
}

void private_umask_undo(void)
{
	if (umask_is_ours)
		(void)umask(umask_before);
}

int private_mkdirs(const char *path)
{
	return file_mkdirs(path, folder_mode());
}

/* ---- what is in a state directory ---- */

/* Folders that a user must be able to pass have an x for all; a star stands for any end of the name. */
static const struct {
	const char *name;
	bool passed;
} kept[] = {
	{"vigil.db*", false}, {"jobs", false},	{"watched", false}, {"unstored", false}, {"notify", false},
	{"kept", false},      {"swept", false}, {"heap", true},	    {"users", true},
};

/* -1: not vigil's. */
static int kept_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		size_t len = strlen(kept[i].name);
		bool open_end = kept[i].name[len - 1] == '*';
		if (open_end ? strncmp(name, kept[i].name, len - 1) == 0 : strcmp(name, kept[i].name) == 0)
			return (int)i;
	}
	return -1;
}

/* The group, from the machine's own file: asking a directory service may take long. (gid_t)-1: there is none. */
static gid_t vigil_group(void)
{
	gid_t found = (gid_t)-1;
	if (geteuid() != 0)
		return found;
	FILE *f = fopen("/etc/group", "re");
	for (const struct group *g; f && found == (gid_t)-1 && (g = fgetgrent(f));)
		if (strcmp(g->gr_name, PRIVATE_GROUP) == 0)
			found = g->gr_gid;
	if (f)
		(void)fclose(f);
	return found;
}

/* Gives what is root's group's to the group; a folder hands it on to what is made in it. */
static void group_give(int dir, const char *name, const struct stat *st, gid_t group)
{
	if (group == (gid_t)-1 || (st->st_gid != 0 && st->st_gid != group))
		return;
	if (st->st_gid != group && fchownat(dir, name, (uid_t)-1, group, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISDIR(st->st_mode) && (st->st_mode & 02000) == 0)
		ignore(fchmodat(dir, name, (st->st_mode & 07777) | 02000, 0),
		       "a service may not set this bit; its own group is the right one");
}

static void entry_tighten(int dir, const char *name, bool passed, gid_t group)
{
	struct stat st;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISLNK(st.st_mode) || st.st_uid != geteuid())
		return;
	mode_t gone = passed && geteuid() == 0 ? taken() & ~0001U : taken();
	mode_t mode = st.st_mode & 07777 & ~gone;
	if (mode != (st.st_mode & 07777))
		ignore(fchmodat(dir, name, mode, 0), "a file system without modes");
	st.st_mode = (st.st_mode & S_IFMT) | mode;
	group_give(dir, name, &st, group);
}

/* The folder's entries; true if all of them are vigil's. */
static bool entries_tighten(int dir, gid_t group)
{
	bool alone = true;
	int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(closedirp) DIR *d = file_folder(again);
	if (!d)
		return false;
	for (const struct dirent *e; (e = readdir(d));) {
		int i = kept_find(e->d_name);
		if (i >= 0)
			entry_tighten(dir, e->d_name, kept[i].passed, group);
		else
			alone &= path_is_dots(e->d_name);
	}
	return alone;
}

int private_state(const char *path)
{
	int r = private_mkdirs(path);
	if (r < 0)
		return r;
	struct stat st;
	cleanup(closep) int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstat(dir, &st) < 0)
		return -errno;
	/* in a folder that others may write to, a name may become another file at any moment */
	if (st.st_uid != geteuid() || (st.st_mode & 0022) != 0)
		return 0;
	gid_t group = vigil_group();
	if (!entries_tighten(dir, group))
		return 0;
	mode_t mode = (st.st_mode & 07777 & ~taken()) | (geteuid() == 0 ? 0001 : 0);
	if (mode != (st.st_mode & 07777) && fchmod(dir, mode) == 0)
		st.st_mode = (st.st_mode & S_IFMT) | mode;
	group_give(dir, ".", &st, group);
	return 0;
}

/* ---- the folder of a user ---- */

/* acl(5) as the kernel takes it: a version and entries of 8 bytes, little-endian, in this order. */
struct acl_entry {
	uint16_t tag, perm;
	uint32_t id;
};

struct acl {
	uint32_t version;
	struct acl_entry entry[5];
};

static struct acl_entry acl_entry(uint16_t tag, uint16_t perm, uint32_t id)
{
	return (struct acl_entry){htole16(tag), htole16(perm), htole32(id)};
}

/* The owner all, the user and the group read, nobody else; both for the folder and for what is made in it. */
static int acl_reader(int fd, uid_t uid)
{
	enum { USER_OBJ = 1, USER = 2, GROUP_OBJ = 4, MASK = 0x10, OTHER = 0x20, ALL = 7, READ = 5 };
	const struct acl a = {
		.version = htole32(2),
		.entry = {acl_entry(USER_OBJ, ALL, UINT32_MAX), acl_entry(USER, READ, uid),
			  acl_entry(GROUP_OBJ, READ, UINT32_MAX), acl_entry(MASK, READ, UINT32_MAX),
			  acl_entry(OTHER, 0, UINT32_MAX)},
	};
	/* what is to come first: where this fails, the user has been given nothing */
	if (fsetxattr(fd, "system.posix_acl_default", &a, sizeof(a), 0) < 0 ||
	    fsetxattr(fd, "system.posix_acl_access", &a, sizeof(a), 0) < 0)
		return -errno;
	return 0;
}

int private_passed_folder(const char *path)
{
	mode_t mode = folder_mode() | (geteuid() == 0 ? 0001 : 0);
	if (mkdir(path, mode) < 0)
		return errno == EEXIST ? 0 : -errno;
	return chmod(path, mode) < 0 ? -errno : 0; /* whatever the umask is */
}

int private_user_folder(const char *state, uid_t uid, char *dst, size_t cap)
{
	char users[PATH_MAX];
	struct stat st;
	TEXT_FORMAT(users, "%s/users", state);
	if (text_format(dst, cap, "%s/%u", users, (unsigned)uid) >= (int)cap)
		return -ENAMETOOLONG;
	int r = private_passed_folder(users);
	if (r < 0)
		return r;
	if (mkdir(dst, 0700) < 0 && errno != EEXIST)
		return -errno;
	cleanup(closep) int fd = open(dst, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid())
		return -EPERM;
	return acl_reader(fd, uid);
}
