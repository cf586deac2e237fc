# SPDX-License-Identifier: Apache-2.0
# CustomResourceDefinitions for tests.
package Tenure::Definition;

use strict;
use warnings;

use Exporter 'import';
use JSON::PP ();

our @EXPORT_OK = qw(definition_of);

my $true = JSON::PP::true();

# definition_of('widgets'): the definition of a type Widget in namespaces, of the group example.com, whose one version v1 takes any members.
# Options: kind, group; schema, the openAPIV3Schema of the version; version => { … }, names => { … }, metadata => { … }, more members of these;
# all others are members of spec.
sub definition_of {
    my ($plural, %option) = @_;
    my $group  = delete $option{group} // 'example.com';
    my $kind   = delete $option{kind} // ucfirst $plural =~ s/s\z//r;
    my $schema = delete $option{schema} // { type => 'object', 'x-kubernetes-preserve-unknown-fields' => $true };
    my ($version, $names, $metadata) = map { $_ // {} } delete @option{qw(version names metadata)};
    return {
        apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition', metadata => { name => "$plural.$group", %$metadata },
        spec => {
            group => $group, scope => 'Namespaced', names => { plural => $plural, kind => $kind, %$names },
            versions => [{ name => 'v1', served => $true, storage => $true, schema => { openAPIV3Schema => $schema }, %$version }], %option,
        },
    };
}

1;
