/*
 * A libdcmi.so that is whatever its script says (script.h, named by FAKE_DCMI). Device N is the only one of card 2·N +
 * 3.
 */
#include "script.h"
#include "sense/gpu/dcmi_abi.h"

#define EXPORT __attribute__((visibility("default")))
#define NOT_THERE (-8008)

static int device_of(int card)
{
	return (card - 3) / 2;
}

#define ENTER(card)                                                                                                    \
	do {                                                                                                           \
		int code_ = script_enter("FAKE_DCMI", __func__, device_of(card));                                      \
		if (code_)                                                                                             \
			return code_;                                                                                  \
		if ((card) >= 0 && ((card) < 3 || (card) % 2 == 0 || device_of(card) >= script_devices()))             \
			return NOT_THERE; /* whoever takes an index for a card's number ends here */                   \
	} while (0)

static int u32_of(int card, const char *key, uint32_t *ret)
{
	uint64_t v;
	if (!script_value(device_of(card), key, &v))
		return NOT_THERE;
	*ret = (uint32_t)v;
	return 0;
}

EXPORT int dcmi_init(void);
EXPORT int dcmi_init(void)
{
	ENTER(-1);
	return 0;
}

EXPORT int dcmi_get_card_list(int *n, int *list, int cap);
EXPORT int dcmi_get_card_list(int *n, int *list, int cap)
{
	ENTER(-1);
	*n = script_devices();
	for (int i = 0; i < *n && i < cap; i++)
		list[i] = 2 * i + 3;
	return 0;
}

EXPORT int dcmi_get_device_num_in_card(int card, int *n);
EXPORT int dcmi_get_device_num_in_card(int card, int *n)
{
	ENTER(card);
	*n = 1;
	return 0;
}

EXPORT int dcmi_get_device_chip_info(int card, int chip, struct dcmi_chip *c);
EXPORT int dcmi_get_device_chip_info(int card, int chip, struct dcmi_chip *c)
{
	const struct script_line *l;
	ENTER(card);
	(void)chip;
	l = script_find(device_of(card), "name");
	memset(c, 0, sizeof(*c));
	(void)snprintf((char *)c->type, sizeof(c->type), "Ascend");
	(void)snprintf((char *)c->name, sizeof(c->name), "%s", l && l->n > 3 ? l->word[3] : "910");
	return 0;
}

EXPORT int dcmi_get_device_utilization_rate(int card, int chip, int kind, uint32_t *ret);
EXPORT int dcmi_get_device_utilization_rate(int card, int chip, int kind, uint32_t *ret)
{
	ENTER(card);
	(void)chip;
	return u32_of(card, kind == DCMI_USE_CORE ? "busy" : "memory_busy", ret);
}

EXPORT int dcmi_get_device_hbm_info(int card, int chip, struct dcmi_hbm *h);
EXPORT int dcmi_get_device_hbm_info(int card, int chip, struct dcmi_hbm *h)
{
	ENTER(card);
	(void)chip;
	memset(h, 0, sizeof(*h));
	if (!script_value(device_of(card), "memory_total_mib", &h->size_mib) ||
	    !script_value(device_of(card), "memory_used_mib", &h->used_mib))
		return NOT_THERE;
	return 0;
}

EXPORT int dcmi_get_device_power_info(int card, int chip, int *ret);
EXPORT int dcmi_get_device_power_info(int card, int chip, int *ret)
{
	ENTER(card);
	(void)chip;
	return u32_of(card, "power_tenths", (uint32_t *)ret);
}

EXPORT int dcmi_get_device_temperature(int card, int chip, int *ret);
EXPORT int dcmi_get_device_temperature(int card, int chip, int *ret)
{
	ENTER(card);
	(void)chip;
	return u32_of(card, "temperature", (uint32_t *)ret);
}

EXPORT int dcmi_get_device_health(int card, int chip, uint32_t *ret);
EXPORT int dcmi_get_device_health(int card, int chip, uint32_t *ret)
{
	ENTER(card);
	(void)chip;
	return u32_of(card, "health", ret);
}

EXPORT int dcmi_get_device_resource_info(int card, int chip, struct dcmi_process *list, int *n);
EXPORT int dcmi_get_device_resource_info(int card, int chip, struct dcmi_process *list, int *n)
{
	ENTER(card);
	(void)chip;
	*n = 0;
	for (int i = 0; i < script.n && *n < DCMI_PROCESSES; i++) {
		const struct script_line *l = &script.line[i];
		if (script_is(l, 0, "process") && script_number(l, 1) == device_of(card))
			list[(*n)++] =
				(struct dcmi_process){(int)script_number(l, 3), (unsigned long)script_number(l, 4)};
	}
	return 0;
}

EXPORT int dcmi_get_device_logic_id(int *logic, int card, int chip);
EXPORT int dcmi_get_device_logic_id(int *logic, int card, int chip)
{
	ENTER(card);
	(void)chip;
	*logic = device_of(card);
	return 0;
}

EXPORT int dcmi_get_device_phyid_from_logicid(uint32_t logic, uint32_t *ret);
EXPORT int dcmi_get_device_phyid_from_logicid(uint32_t logic, uint32_t *ret)
{
	ENTER(-1);
	return u32_of(2 * (int)logic + 3, "physical", ret);
}
