// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.nio.file.FileSystemException;

/** S3 says that a bucket is in another region than the request was signed for. */
final class OtherRegionException extends FileSystemException {

    private static final long serialVersionUID = 1;

    private final String region;

    OtherRegionException(String name, String region) {
        super(name, null, "in the region " + region);
        this.region = region;
    }

    String region() {
        return region;
    }
}
