package io.penstock.device;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** The providers that there are: the host's first, the others in the order in which they are found. */
record DeviceProviders(List<DeviceProvider> all) {
    static final String HOST = "host";
    static final String CUDA = "cuda";

    private static final System.Logger LOG = System.getLogger(Device.class.getName());

    /** Looks for them. One that cannot be loaded is named in a warning, and hides no other. */
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
                LOG.log(System.Logger.Level.WARNING, "A device provider was left out: {0}", e.getMessage());
            }
        }
    }

    DeviceProvider of(String kind) {
        return all.stream().filter(provider -> provider.kind().equals(kind)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no provider of device '" + kind + "', found " + kinds()
                        + (kinds().contains(HOST) ? "" : " (is META-INF/services/" + DeviceProvider.class.getName()
                        + " of Penstock's jar on the class path?)")));
    }

    /** The device of a name: a kind, or a kind and a number. */
    Device open(String name) {
        int colon = name.indexOf(':');
        String kind = colon < 0 ? name : name.substring(0, colon);
        if (!kinds().contains(kind) || colon >= 0 && !name.substring(colon + 1).matches("[0-9]{1,4}")) {
            throw new IllegalArgumentException("unknown device '" + name + "', expected auto, or one of "
                    + kinds() + " with or without a number, such as cuda:0");
        }
        return of(kind).open(colon < 0 ? 0 : Integer.parseInt(name.substring(colon + 1)));
    }

    /** The first device that can be used, the host's only if there is no other. */
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
