// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import io.penstock.codec.MissingLibraryException;
import java.util.Locale;

/**
 * The libraries that decode JPEG. Their pixels are identical for images without chroma subsampling, and for others if
 * they upsample in the same way, as libjpeg-turbo and the JDK's libjpeg do.
 */
public enum JpegLibrary {
    /** libjpeg-turbo's {@code libturbojpeg}, if installed: several times as fast, and allocates nothing. */
    TURBOJPEG,
    /** The JDK's decoder, in the module {@code java.desktop}. It does not support arithmetic coding. */
    JDK;

    /** The property that names the library to use: {@code turbojpeg} or {@code jdk}. */
    public static final String PROPERTY = "penstock.jpeg";

    /** Returns the library that the property {@value #PROPERTY} names, otherwise the first that is present. */
    public static JpegLibrary preferred() {
        String chosen = System.getProperty(PROPERTY, "");
        return switch (chosen.toLowerCase(Locale.ROOT)) {
            case "" -> TURBOJPEG.isPresent() ? TURBOJPEG : JDK;
            case "turbojpeg" -> TURBOJPEG;
            case "jdk" -> JDK;
            default -> throw new IllegalArgumentException(PROPERTY + "=" + chosen + ", expected turbojpeg or jdk");
        };
    }

    public boolean isPresent() {
        return switch (this) {
            case TURBOJPEG -> TurboJpeg.isPresent();
            case JDK -> ModuleLayer.boot().findModule("java.desktop").isPresent();
        };
    }

    JpegDecoder open() throws MissingLibraryException {
        if (this == TURBOJPEG) {
            return TurboJpeg.open();
        }
        try {
            return new JdkJpeg();
        } catch (NoClassDefFoundError | UnsatisfiedLinkError e) {
            throw new MissingLibraryException("reading JPEG", "libturbojpeg (libjpeg-turbo), or the JDK's module "
                    + "java.desktop", e);
        }
    }
}
