// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.Device;
import io.penstock.device.DeviceStream;

/** A place where transforms run: memory by address, and a stream that orders what is done with it. */
public interface Lab extends AutoCloseable {
    /** What stages are opened for. */
    Device device();

    DeviceStream stream();

    /** New memory with this content, good until the lab closes. */
    long upload(byte[] content);

    /** What memory holds once all that is enqueued has run: as much as was uploaded there. */
    byte[] download(long address);

    @Override
    void close();
}
