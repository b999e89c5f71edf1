// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** All providers: the host's first, the others in the order found. */
record DeviceProviders(List<DeviceProvider> all) {
    static final String HOST = "host";
    static final String CUDA = "cuda";

    private static final System.Logger LOG = System.getLogger(Device.class.getName());

    /** Loads the providers. A warning names one that cannot be loaded; the others are kept. */
    static DeviceProviders find() {
        List<DeviceProvider> found = new ArrayList<>();
        Iterator<DeviceProvider> services =
                ServiceLoader.load(DeviceProvider.class, DeviceProvider.class.getClassLoader()).iterator();
        while (true) {
            try {
                if (!services.hasNext()) {
                    return new DeviceProviders(found);
                }
                DeviceProvider provider = services.next();
                found.add(provider.kind().equals(HOST) ? 0 : found.size(), provider);
            } catch (ServiceConfigurationError e) {
                LOG.log(System.Logger.Level.WARNING, "Skipped a device provider: {0}", e.getMessage());
            }
        }
    }

    DeviceProvider of(String kind) {
        return all.stream().filter(provider -> provider.kind().equals(kind)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no provider for device '" + kind + "', found "
                        + kinds()
                        + (kinds().contains(HOST) ? "" : " (is META-INF/services/" + DeviceProvider.class.getName()
                        + " of Penstock's jar on the class path?)")));
    }

    /** Opens a device by name: a kind, or a kind and an ordinal. */
    Device open(String name) {
        int colon = name.indexOf(':');
        String kind = colon < 0 ? name : name.substring(0, colon);
        if (!kinds().contains(kind) || colon >= 0 && !name.substring(colon + 1).matches("[0-9]{1,4}")) {
            throw new IllegalArgumentException("unknown device '" + name + "', expected auto, or one of "
                    + kinds() + " with or without a number, such as cuda:0");
        }
        return of(kind).open(colon < 0 ? 0 : Integer.parseInt(name.substring(colon + 1)));
    }

    /** Opens the first usable device; the host's only if there is no other. */
    Device best() {
        String reasons = "";
        for (DeviceProvider provider : all) {
            if (!provider.kind().equals(HOST)) {
                try {
                    Device device = provider.open(0);
                    LOG.log(System.Logger.Level.INFO, "Using {0}", device.name());
                    return device;
                } catch (DeviceUnavailableException e) {
                    reasons += (reasons.isEmpty() ? "" : "; ") + e.getMessage();
                }
            }
        }
        LOG.log(System.Logger.Level.INFO, "Using the host device: {0}", reasons);
        return of(HOST).open(0);
    }

    private List<String> kinds() {
        return all.stream().map(DeviceProvider::kind).toList();
    }
}
