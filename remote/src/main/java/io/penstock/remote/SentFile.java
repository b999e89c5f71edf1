// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.io.Serializable;
import java.util.List;

/**
 * A file that {@link RemoteFiles#send} sent to a bucket. There is no object yet: nobody sees it, and it costs storage.
 * {@link Upload#adopt} makes an object of it, on any machine; {@link RemoteFiles#abort} removes it.
 *
 * @param name the object's name, {@code s3://BUCKET/KEY}
 * @param uploadId the id of the upload of its parts
 * @param mark what the object will carry, so that its writer is known
 * @param etags the parts, in order
 */
public record SentFile(String name, String uploadId, String mark, List<String> etags) implements Serializable {

    /** Creates the description of a file that was sent. */
    public SentFile {
        etags = List.copyOf(etags);
    }
}
