// SPDX-License-Identifier: Apache-2.0
// Drivers of nodes, and the implementations of interfaces that each supports: those that Ironic enables by default.
#include "base/base.h"

#include "base/pool.h"
#include "registry/baremetal/baremetal.h"
#include "registry/baremetal/settings.h"

enum { N_INTERFACES = 12, MAX_ENABLED = 4 };

const char *const baremetal_interfaces[] = {
	"bios", "boot", "console", "deploy", "inspect", "management", "network", "power", "raid", "rescue", "storage",
	"vendor", NULL
};
static_assert(COUNT_OF(baremetal_interfaces) == N_INTERFACES + 1, "as many as a profile has"); // a profile has as many

struct baremetal_profile {
	const char *driver; // NULL: any other driver
	struct {
		const char *standard;
		const char *enabled[MAX_ENABLED]; // ends with NULL
	} interfaces[N_INTERFACES];               // in the order of baremetal_interfaces
};

static const struct baremetal_profile profiles[] = {
	{ "fake-hardware",
	  {
		  { "fake", { "fake", "no-bios" } },
		  { "fake", { "fake" } },
		  { "fake", { "fake", "no-console" } },
		  { "fake", { "fake" } },
		  { "fake", { "no-inspect", "fake" } },
		  { "fake", { "fake" } },
		  { "noop", { "noop" } },
		  { "fake", { "fake" } },
		  { "fake", { "fake", "no-raid" } },
		  { "fake", { "fake", "no-rescue" } },
		  { "noop", { "noop", "fake" } },
		  { "fake", { "fake", "no-vendor" } },
	  } },
	{ "ipmi",
	  {
		  { "no-bios", { "no-bios" } },
		  { "ipxe", { "ipxe", "pxe" } },
		  { "no-console", { "no-console" } },
		  { "direct", { "direct", "ramdisk" } },
		  { "no-inspect", { "no-inspect" } },
		  { "ipmitool", { "ipmitool" } },
		  { "flat", { "flat", "noop" } },
		  { "ipmitool", { "ipmitool" } },
		  { "no-raid", { "no-raid", "agent" } },
		  { "no-rescue", { "no-rescue" } },
		  { "noop", { "noop", "cinder" } },
		  { "ipmitool", { "ipmitool", "no-vendor" } },
	  } },
	{ "redfish",
	  {
		  { "redfish", { "redfish", "no-bios" } },
		  { "ipxe", { "ipxe", "pxe", "redfish-virtual-media" } },
		  { "no-console", { "no-console" } },
		  { "direct", { "direct", "ramdisk" } },
		  { "redfish", { "redfish", "no-inspect" } },
		  { "redfish", { "redfish" } },
		  { "flat", { "flat", "noop" } },
		  { "redfish", { "redfish" } },
		  { "redfish", { "redfish", "no-raid", "agent" } },
		  { "no-rescue", { "no-rescue" } },
		  { "noop", { "noop", "cinder" } },
		  { "redfish", { "redfish", "no-vendor" } },
	  } },
	// A driver that is not known here: interfaces that do nothing.
	{ NULL,
	  {
		  { "no-bios", { "no-bios" } },
		  { "noop", { "noop" } },
		  { "no-console", { "no-console" } },
		  { "noop", { "noop" } },
		  { "no-inspect", { "no-inspect" } },
		  { "noop", { "noop" } },
		  { "noop", { "noop" } },
		  { "noop", { "noop" } },
		  { "no-raid", { "no-raid" } },
		  { "no-rescue", { "no-rescue" } },
		  { "noop", { "noop" } },
		  { "no-vendor", { "no-vendor" } },
	  } },
};

static const struct baremetal_profile *profile_of(struct str driver)
{
	const struct baremetal_profile *profile = profiles;

	while (profile->driver != NULL && !str_eq_c(driver, profile->driver))
		profile++;
	return profile;
}

size_t baremetal_drivers(const struct config *config, struct pool *pool, struct baremetal_driver **drivers)
{
	struct str rest = str_c(baremetal_settings(config)->drivers), name;
	size_t n = 0;

	while (str_split(&rest, ',', &name))
		n++;
	*drivers = POOL_ARRAY(pool, struct baremetal_driver, n);
	rest = str_c(baremetal_settings(config)->drivers);
	for (size_t i = 0; str_split(&rest, ',', &name); i++)
		(*drivers)[i] = (struct baremetal_driver){ str_trim(name), profile_of(str_trim(name)) };
	return n;
}

bool baremetal_driver_find(const struct config *config, struct str name, struct baremetal_driver *driver)
{
	struct str rest = str_c(baremetal_settings(config)->drivers), item;

	while (str_split(&rest, ',', &item)) {
		if (str_eq(str_trim(item), name)) {
			*driver = (struct baremetal_driver){ str_trim(item), profile_of(name) };
			return true;
		}
	}
	return false;
}

static size_t index_of(const char *interface)
{
	size_t i = 0;

	while (baremetal_interfaces[i] != NULL && strcmp(baremetal_interfaces[i], interface) != 0)
		i++;
	assert(i < N_INTERFACES);
	return i;
}

const char *baremetal_driver_default(const struct baremetal_driver *driver, const char *interface)
{
	return driver->profile->interfaces[index_of(interface)].standard;
}

const char *const *baremetal_driver_enabled(const struct baremetal_driver *driver, const char *interface)
{
	return driver->profile->interfaces[index_of(interface)].enabled;
}
